/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include "stats/loads.h"
#include "stats/paired.h"
#include "stats/quantile.h"

void bb_pair_void(struct bb_pair *p, const char *why)
{
	if (!p->void_why)
		p->void_why = bb_strdup(why);
}

enum which { MATCHED = 1, UNMATCHED = 2 };

/* Copies one member of struct bb_pair, at `offset`, into x[n_pairs]. Takes only pairs that `which`
 * chooses and that count, and only finite values. Returns the number of values. */
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

/* With fewer pairs than this, the estimate is their median. It tolerates up to half of the pairs as
 * outliers, the Hodges-Lehmann estimate only 29 % (Hodges & Lehmann 1963). */
#define FEW_PAIRS 7u

/* Estimates one member over the pairs that column() chooses. The interval is that of the e-process
 * (stats/paired.h). All results are NAN if there is no such pair. x[n_pairs] is scratch space. */
static struct bb_estimate estimate(const struct bb_comparison *c, unsigned int which, size_t offset,
				   double alpha, double *x)
{
	size_t n = column(c, which, offset, x);
	struct bb_interval interval = bb_eprocess_interval(x, n, alpha);
	double value = n && n < FEW_PAIRS ? bb_median(x, n) : bb_signed_rank(x, n, alpha).estimate;

	return (struct bb_estimate){value, interval.lo, interval.hi};
}

static struct bb_estimate exp_of(struct bb_estimate e)
{
	return (struct bb_estimate){exp(e.value), exp(e.lo), exp(e.hi)};
}

#define COLUMN(field) offsetof(struct bb_pair, field)

/* Returns which pairs decide the verdict: those whose programs have the same JIT address modulo 64,
 * or all pairs if the kernel hides JIT addresses. */
static enum which deciding_pairs(const struct bb_comparison *c)
{
	return BB_ANY(c->pairs, c->n_pairs, it->matched || it->base_mod64 >= 0) ? MATCHED
										: UNMATCHED;
}

static double median_of(const struct bb_comparison *c, enum which which, size_t offset, double *x)
{
	return bb_median(x, column(c, which, offset, x));
}

void bb_comparison__judge(struct bb_comparison *c, double alpha)
{
	enum which deciding = deciding_pairs(c), which;
	double limit = log1p(c->threshold), *x = bb_calloc(c->n_pairs + 1, sizeof(*x));
	struct bb_estimate ln = estimate(c, deciding, COLUMN(d), alpha, x);

	c->ratio = exp_of(ln);
	c->ratio_unmatched = exp_of(estimate(c, UNMATCHED, COLUMN(d), alpha, x));
	c->ratio_net = exp_of(estimate(c, deciding, COLUMN(d_net), alpha, x));
	c->shift_ns = estimate(c, deciding, COLUMN(shift_ns), alpha, x);
	c->verdict = bb_verdict_of((struct bb_interval){ln.lo, ln.hi}, c->threshold);
	c->n_unmatched = (uint32_t)column(c, UNMATCHED, COLUMN(d), x);
	size_t n = column(c, deciding, COLUMN(d), x);
	c->n_matched = (uint32_t)(deciding == MATCHED ? n : 0);
	c->p_regressed = bb_eprocess_p(x, n, limit, 1);
	c->p_improved = bb_eprocess_p(x, n, -limit, -1);
	bool has_shift = !isnan(c->shift_ns.value);
	which = has_shift ? deciding : MATCHED | UNMATCHED;
	c->base_ns = median_of(c, which, COLUMN(base_ns), x);
	c->head_ns = has_shift ? c->base_ns + c->shift_ns.value
			       : median_of(c, which, COLUMN(head_ns), x);
	c->floor_ns = median_of(c, which, COLUMN(floor_ns), x);
	c->n_void = (uint32_t)BB_SUM(c->pairs, c->n_pairs, it->void_why != NULL);
	free(x);
}

void bb_comparisons_judge(struct bb_comparison *c, size_t n)
{
	double *p = bb_calloc(2 * n + 1, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		bb_comparison__judge(&c[i], c[i].alpha);
	/* The two directions of a comparison count as one hypothesis, because a comparison can
	 * be beyond the threshold in one direction only. */
	for (size_t i = 0; i < n; i++)
		p[i] = fmin(c[i].p_regressed, c[i].p_improved);
	bb_holm(p, n, p);
	for (size_t i = 0; i < n; i++) {
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
}

/* longest budget that is advised, s, because nobody follows advice to wait longer */
#define MOST_S 3600.0
/* no number of pairs is advised if a verdict needs more than this many times the present one */
#define MOST_TIMES 60.0
#define FIRST_HALF_SD 1.35 /* expected half range of 7 normal values, in standard deviations */

/* Returns by what factor the number n of pairs must grow for a verdict. An interval needs `fewest`
 * pairs. `*ret_far` receives the smallest threshold at which the verdict would be `same`. */
static double times_to_decide(const struct bb_comparison *c, size_t n, size_t fewest,
			      double *ret_far)
{
	double at = log(c->ratio.value), lo = log(c->ratio.lo), hi = log(c->ratio.hi), times;
	bool is_few = isnan(lo);

	if (is_few) {
		/* predict half the width of the first interval from the spread of the pairs */
		double *x = bb_calloc(c->n_pairs + 1, sizeof(*x)), half = 0;
		size_t n_finite = column(c, deciding_pairs(c), COLUMN(d), x);

		if (n_finite >= 2)
			half = FIRST_HALF_SD * bb_spread_of(x, n_finite).sd;
		free(x);
		lo = at - half;
		hi = at + half;
	}
	times = bb_times_to_decide(at, lo, hi, log1p(c->threshold));
	*ret_far = fmax(fabs(expm1(lo)), fabs(expm1(hi)));
	/* no verdict with fewer than `fewest` pairs, which may agree by chance */
	return is_few ? (isfinite(times) ? times : 1) * fmax((double)fewest / fmax((double)n, 1), 1)
		      : times;
}

double bb_comparison__why_inconclusive(const struct bb_comparison *c, char ret_text[BB_WHY_SIZE])
{
	size_t n = c->n_matched ? c->n_matched : c->n_unmatched;
	size_t fewest = 2; /* least number of pairs that gives an interval */
	bool has_budget = c->budget_s > 0, is_long;
	char known[64] = "";
	double far, times, more;

	ret_text[0] = '\0';
	if (c->verdict != BB_VERDICT_INCONCLUSIVE || (!n && !c->n_pairs && !has_budget))
		return NAN;
	if (!n && c->n_pairs) {
		snprintf(ret_text, BB_WHY_SIZE,
			 "remove the cause and measure again: no pair counts");
		return NAN;
	}
	while (fewest < BB_SIGNED_RANK_EXACT_MAX && !bb_eprocess_rank(fewest, c->alpha))
		fewest++;
	times = times_to_decide(c, n, fewest, &far);
	more = ceil((has_budget ? c->budget_s : (double)n) * times * BB_SPARE);
	is_long = has_budget ? more > MOST_S : times > MOST_TIMES;
	if (isnan(c->ratio.lo))
		snprintf(known, sizeof(known), "no interval yet: %zu of the %zu pairs it takes", n,
			 n < fewest ? fewest : n + 1);
	else
		snprintf(known, sizeof(known), "+-%.2g %% so far",
			 50 * (c->ratio.hi - c->ratio.lo));
	if (isfinite(far) && (is_long || isinf(times))) {
		snprintf(ret_text, BB_WHY_SIZE, "%s %.3g %%%s (%s); --threshold %.2g would be same",
			 isinf(times) ? "too close to" : "this machine takes too long to decide",
			 100 * c->threshold, isinf(times) ? " to decide" : "", known,
			 ceil(100 * far * 10) / 10);
		return NAN;
	}
	if (has_budget)
		snprintf(ret_text, BB_WHY_SIZE, "%s%s",
			 isnan(c->ratio.lo) ? "" : "the interval is ", known);
	else
		snprintf(ret_text, BB_WHY_SIZE, "--loads %.0f should decide (%s)", more, known);
	return more;
}
