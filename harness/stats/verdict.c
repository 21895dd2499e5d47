/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/verdict.h"

static const char *const verdict_names[BB_N_VERDICTS] = {
	[BB_VERDICT_INCONCLUSIVE] = "inconclusive",
	[BB_VERDICT_SAME] = "same",
	[BB_VERDICT_REGRESSED] = "regressed",
	[BB_VERDICT_IMPROVED] = "improved",
};

struct indexed_p {
	double p;
	size_t index;
};

enum bb_verdict bb_verdict_of(struct bb_interval log_ratio, double eps)
{
	double limit = log1p(eps);

	/* A comparison with a NAN is false, so a NAN gives inconclusive, too. */
	if (!(eps >= 0) || isinf(eps) || !(log_ratio.lo <= log_ratio.hi))
		return BB_VERDICT_INCONCLUSIVE;
	if (log_ratio.lo > limit)
		return BB_VERDICT_REGRESSED;
	if (log_ratio.hi < -limit)
		return BB_VERDICT_IMPROVED;
	if (log_ratio.lo >= -limit && log_ratio.hi <= limit)
		return BB_VERDICT_SAME;
	return BB_VERDICT_INCONCLUSIVE;
}

#define EVIDENCE 3.0 /* likelihood ratio from which a change is denied */

bool bb_change_is_denied(double change, double other, double sd)
{
	return change * (change - 2 * other) > 2 * log(EVIDENCE) * sd * sd;
}

#define TIMES_LEAST 1.5
/* half the width of the narrowest useful interval, in multiples of the limit */
#define NARROW 0.1
/* rough half width of an interval, in standard errors of the estimate */
#define UNSURE 3.0

double bb_times_to_decide(double estimate, double lo, double hi, double limit)
{
	double apart = fabs(fabs(estimate) - limit), half = (hi - lo) / 2, error = half / UNSURE;
	double allowed = fmax(apart - error, fmin(limit, error));

	if (isnan(apart) || isnan(half))
		return NAN;
	if (apart < half && half < NARROW * limit)
		return INFINITY;
	return fmax((half / allowed) * (half / allowed), TIMES_LEAST);
}

const char *bb_verdict_name(enum bb_verdict verdict)
{
	return (unsigned int)verdict < BB_N_VERDICTS ? verdict_names[verdict] : "?";
}

int bb_verdict_from_name(const char *name, enum bb_verdict *ret_verdict)
{
	const char *const *found = BB_FIND(verdict_names, BB_N_VERDICTS, !strcmp(name, *it));

	if (!found)
		return -EINVAL;
	*ret_verdict = (enum bb_verdict)(found - verdict_names);
	return 0;
}

static int by_p(const void *a, const void *b)
{
	const struct indexed_p *x = a, *y = b;

	return BB_ORDER(x->p, y->p);
}

void bb_holm(const double *p, size_t n, double *ret_adjusted)
{
	struct indexed_p *order = bb_calloc(n, sizeof(*order));
	size_t m = 0;
	double highest = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			ret_adjusted[i] = NAN;
		else
			order[m++] = (struct indexed_p){p[i], i};
	}
	qsort(order, m, sizeof(*order), by_p);
	for (size_t i = 0; i < m; i++) {
		highest = fmax(highest, fmin(1, (double)(m - i) * order[i].p));
		ret_adjusted[order[i].index] = highest;
	}
	free(order);
}
