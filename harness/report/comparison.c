/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/comparison.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/records.h"
#include "stats/quantile.h"
#include "stats/paired.h"

struct bb_pair *bb_comparison__add_pair(struct bb_comparison *c)
{
	return bb_record__append(&bb_pair_record, &c->pairs, &c->n_pairs);
}

int bb_pair_void(struct bb_pair *p, const char *why)
{
	if (!p->void_why)
		p->void_why = strdup(why);
	return p->void_why ? 0 : -ENOMEM;
}

enum which { MATCHED = 1, UNMATCHED = 2 };

/* The finite values of one column of the pairs that count, into x[n_pairs]. Returns how many. */
static size_t column(const struct bb_comparison *c, unsigned int which, size_t offset, double *x)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_pairs; i++) {
		const struct bb_pair *p = &c->pairs[i];
		double v = *(const double *)((const char *)p + offset);

		if (!p->void_why && (which & (p->matched ? MATCHED : UNMATCHED)) && isfinite(v))
			x[n++] = v;
	}
	return n;
}

/* Hodges-Lehmann estimate with the interval of the e-process, in the units of x. */
static int estimate(const double *x, size_t n, double alpha, struct bb_estimate *ret_estimate)
{
	struct bb_interval interval = bb_eprocess_interval(x, n, alpha);
	struct bb_signed_rank sr;
	int rc;

	*ret_estimate = (struct bb_estimate){NAN, NAN, NAN};
	if (!n)
		return 0;
	rc = bb_signed_rank(x, n, alpha, &sr);
	if (!rc)
		*ret_estimate = (struct bb_estimate){sr.estimate, interval.lo, interval.hi};
	return rc;
}

static struct bb_estimate exp_of(struct bb_estimate e)
{
	return (struct bb_estimate){exp(e.value), exp(e.lo), exp(e.hi)};
}

static double median_of(const struct bb_comparison *c, size_t offset, double *x)
{
	size_t n = column(c, MATCHED | UNMATCHED, offset, x);

	return n ? bb_median(x, n) : NAN;
}

#define COLUMN(field) offsetof(struct bb_pair, field)

/* Where the kernel tells no JIT addresses, nothing can be matched: pairs as placed then decide,
 * layout and all. */
static enum which deciding_pairs(const struct bb_comparison *c)
{
	for (size_t i = 0; i < c->n_pairs; i++)
		if (c->pairs[i].matched || c->pairs[i].base_mod64 >= 0)
			return MATCHED;
	return UNMATCHED;
}

int bb_comparison__judge(struct bb_comparison *c, double alpha)
{
	enum which deciding = deciding_pairs(c);
	double limit = log1p(c->threshold), *x = calloc(c->n_pairs + 1, sizeof(*x));
	struct bb_estimate log_ratio, e;
	size_t n;
	int rc;

	if (!x)
		return -ENOMEM;
	n = column(c, deciding, COLUMN(d), x);
	c->p_regressed = bb_eprocess_p(x, n, limit, 1);
	c->p_improved = bb_eprocess_p(x, n, -limit, -1);
	rc = estimate(x, n, alpha, &log_ratio);
	c->n_matched = (uint32_t)(deciding == MATCHED ? n : 0);
	c->ratio = exp_of(log_ratio);
	c->verdict = bb_verdict_of((struct bb_interval){log_ratio.lo, log_ratio.hi}, c->threshold);
	if (!rc) {
		c->n_unmatched = (uint32_t)column(c, UNMATCHED, COLUMN(d), x);
		rc = estimate(x, c->n_unmatched, alpha, &e);
		c->ratio_unmatched = exp_of(e);
	}
	if (!rc) {
		n = column(c, deciding, COLUMN(d_net), x);
		rc = estimate(x, n, alpha, &e);
		c->ratio_net = exp_of(e);
	}
	if (!rc) {
		n = column(c, deciding, COLUMN(shift_ns), x);
		rc = estimate(x, n, alpha, &c->shift_ns);
	}
	c->base_ns = median_of(c, COLUMN(base_ns), x);
	c->head_ns = median_of(c, COLUMN(head_ns), x);
	c->floor_ns = median_of(c, COLUMN(floor_ns), x);
	c->n_void = 0;
	for (size_t i = 0; i < c->n_pairs; i++)
		c->n_void += c->pairs[i].void_why != NULL;
	free(x);
	return rc;
}

int bb_comparisons_judge(struct bb_comparison *c, size_t n)
{
	double *p = calloc(2 * n + 1, sizeof(*p));
	int rc = p ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < n; i++)
		rc = bb_comparison__judge(&c[i], c[i].alpha);
	/* One family for either direction: a comparison can be beyond the threshold on one side
	 * only. */
	for (size_t i = 0; !rc && i < n; i++)
		p[i] = fmin(c[i].p_regressed, c[i].p_improved);
	if (!rc)
		rc = bb_holm(p, n, p);
	for (size_t i = 0; !rc && i < n; i++) {
		bool beyond = c[i].verdict == BB_VERDICT_REGRESSED ||
			      c[i].verdict == BB_VERDICT_IMPROVED;

		if (c[i].p_regressed < c[i].p_improved)
			c[i].p_regressed = p[i];
		else
			c[i].p_improved = p[i];
		if (beyond && !(p[i] <= c[i].alpha))
			c[i].verdict = BB_VERDICT_INCONCLUSIVE;
	}
	free(p);
	return rc;
}
