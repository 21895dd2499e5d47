/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/loads.h"

#include "stats/quantile.h"
#include "stats/special.h"

#define SLOW_SPREADS 5.0
#define SLOW_LEAST 0.01

struct stratum {
	/* share: share of loads at random addresses; squares: of distances from the mean */
	double share, sum, squares;
	size_t n;
};

static double mean_of(const struct stratum *s)
{
	return s->sum / (double)s->n;
}

bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret)
{
	struct stratum strata[BB_STRATA] = {0};
	struct bb_stratified e = {.least = INFINITY, .most = -INFINITY};
	double covered = 0, squares = 0, factor = 0, half;

	for (size_t i = 0; i < n; i++) {
		if (isnan(x[i]))
			continue;
		if (stratum[i] < 0 || stratum[i] >= BB_STRATA || !(share[i] > 0))
			return false;
		struct stratum *s = &strata[stratum[i]];
		s->share = share[i];
		s->sum += x[i];
		s->n++;
	}
	for (size_t i = 0; i < n; i++) {
		struct stratum *s = isnan(x[i]) ? NULL : &strata[stratum[i]];

		if (s)
			s->squares += (x[i] - mean_of(s)) * (x[i] - mean_of(s));
	}
	for (size_t h = 0; h < BB_STRATA; h++) {
		if (!strata[h].n)
			continue;
		e.n += strata[h].n;
		e.n_strata++;
		covered += strata[h].share;
		squares += strata[h].squares;
	}
	if (covered < BB_STRATA_COVERED || e.n < e.n_strata + BB_STRATA_DF_LEAST)
		return false;
	for (size_t h = 0; h < BB_STRATA; h++) {
		double weight = strata[h].share / covered;

		if (!strata[h].n)
			continue;
		e.value += weight * mean_of(&strata[h]);
		e.least = fmin(e.least, mean_of(&strata[h]));
		e.most = fmax(e.most, mean_of(&strata[h]));
		factor += weight * weight / (double)strata[h].n;
	}
	e.se = sqrt(squares / (double)(e.n - e.n_strata) * factor);
	half = bb_student_critical(alpha, (double)(e.n - e.n_strata)) * e.se;
	e.interval = (struct bb_interval){e.value - half, e.value + half};
	*ret = e;
	return true;
}

static bool is_value(const double *x, const int *stratum, size_t i)
{
	return x[i] > 0 && stratum[i] >= 0 && stratum[i] < BB_STRATA;
}

size_t bb_strata_set_aside(double *x, const int *stratum, size_t n)
{
	double *above = bb_calloc(n + 1, sizeof(*above)), limit;
	size_t least[BB_STRATA], n_above = 0, n_aside = 0;

	for (size_t h = 0; h < BB_STRATA; h++)
		least[h] = n;
	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) &&
		    (least[stratum[i]] == n || x[i] < x[least[stratum[i]]]))
			least[stratum[i]] = i;
	/* above[] has the excess of each value that is not the least of its stratum. */
	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) && least[stratum[i]] != i)
			above[n_above++] = x[i] / x[least[stratum[i]]] - 1;
	limit = n_above ? 1 + fmax(SLOW_SPREADS * bb_median(above, n_above), SLOW_LEAST) : INFINITY;
	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) && x[i] > x[least[stratum[i]]] * limit) {
			x[i] = NAN;
			n_aside++;
		}
	free(above);
	return n_aside;
}

#define SHARE 0.03

/* The limit of bb_undisturbed_most() is the 10th percentile plus this many times the distance
 * between the 5th and the 30th percentile. In a normal distribution, the 10th, 5th and 30th
 * percentiles are 1.282, 1.645 and 0.524 standard deviations below the mean, so the limit is 3.2
 * standard deviations above it. */
#define DISTANCES 4.0

#define GROUPS_LEAST 4u
#define GROUP_SHARE 0.02
/* A group is disturbed if its median is this far above the lower quartile of all groups' medians,
 * in standard deviations of one figure. The standard error of the median of four figures is 0.63 in
 * this unit. */
#define GROUP_DEVIATIONS 2.0

double bb_undisturbed_most(double *x, size_t n)
{
	double low, spread;

	if (n < BB_UNDISTURBED_LEAST)
		return INFINITY;
	bb_sort_doubles(x, n);
	low = bb_quantile_sorted(x, n, 0.1);
	spread = bb_quantile_sorted(x, n, 0.3) - bb_quantile_sorted(x, n, 0.05);
	return low + fmax(SHARE * low, DISTANCES * spread);
}

/* Copies the finite values of `groups` groups of neighbours to kept[], group by group. Group g ends
 * before kept[end[g]]. Returns the number of values in kept[]. */
static size_t collect_groups(const double *x, size_t n, size_t groups, double *kept, size_t *end)
{
	size_t k = 0;

	for (size_t g = 0; g < groups; g++) {
		for (size_t i = g * n / groups; i < (g + 1) * n / groups; i++)
			if (isfinite(x[i]))
				kept[k++] = x[i];
		end[g] = k;
	}
	return k;
}

size_t bb_undisturbed_groups(double *x, size_t n, size_t groups)
{
	double *medians = bb_calloc(2 * groups + n + 1, sizeof(*medians)), *sorted, *kept,
	       most = INFINITY;
	size_t *end = bb_calloc(groups + 1, sizeof(*end));
	size_t n_aside = 0, with_some = 0, first = 0, all;

	sorted = medians + groups;
	kept = sorted + groups;
	all = collect_groups(x, n, groups, kept, end);
	for (size_t g = 0; g < groups; first = end[g++]) {
		/* NAN if the group is empty */
		medians[g] = bb_median(kept + first, end[g] - first);
		with_some += end[g] > first;
		for (size_t k = first; k < end[g]; k++)
			kept[k] = fabs(kept[k] / medians[g] - 1);
	}
	memcpy(sorted, medians, groups * sizeof(*sorted));
	bb_sort_doubles(sorted, groups);
	if (with_some >= GROUPS_LEAST)
		most = bb_quantile_sorted(sorted, with_some, 0.25) *
		       (1 +
			fmax(GROUP_SHARE, GROUP_DEVIATIONS * BB_MAD_TO_SD * bb_median(kept, all)));
	for (size_t g = 0; g < groups; g++)
		for (size_t i = g * n / groups; i < (g + 1) * n / groups; i++)
			if (medians[g] > most && isfinite(x[i])) {
				x[i] = NAN;
				n_aside++;
			}
	free(medians);
	free(end);
	return n_aside;
}

struct bb_signed_rank bb_in_order(const double *x, size_t n, size_t processes, double alpha)
{
	double *kept = bb_calloc(n + 1, sizeof(*kept)), half = 0;
	/* mean of the groups, and sum of squared distances from it (Welford 1962) */
	double mean = 0, squares = 0;
	size_t *end, groups = 0;

	processes = processes ? processes : 1;
	end = bb_calloc(processes + BB_IN_ORDER_GROUPS, sizeof(*end));
	n = collect_groups(x, n, processes, kept, end);
	for (size_t p = 0; p < processes; p++)
		if (end[p] > (groups ? end[groups - 1] : 0))
			end[groups++] = end[p];
	if (groups < BB_IN_ORDER_GROUPS)
		groups = 0;
	/* too few processes: make groups of equal size */
	if (!groups && n >= 2 * BB_IN_ORDER_GROUPS) {
		groups = BB_IN_ORDER_GROUPS;
		for (size_t g = 0; g < groups; g++)
			end[g] = (g + 1) * n / groups;
	}
	struct bb_signed_rank r = bb_robust_rank(kept, n, alpha);
	for (size_t g = 0; g < groups; g++) {
		size_t first = g ? end[g - 1] : 0;
		double of = bb_signed_rank(kept + first, end[g] - first, alpha).estimate;
		double off = of - mean;

		mean += off / (double)(g + 1);
		squares += off * (of - mean);
	}
	if (groups)
		half = bb_student_critical(alpha, (double)groups - 1) *
		       sqrt(squares / (double)(groups - 1) / (double)groups);
	free(kept);
	free(end);
	if (half > 0)
		r.interval = (struct bb_interval){fmin(r.interval.lo, r.estimate - half),
						  fmax(r.interval.hi, r.estimate + half)};
	return r;
}

/* 95 % quantile of the normal distribution, for Bartlett's test at the level 5 % */
#define NORMAL_0_05 1.6449
#define HALVINGS 60

struct bb_spread bb_spread_of(const double *x, size_t n)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		mean += x[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	return (struct bb_spread){sqrt(squares / (double)(n - 1)), (double)n};
}

static double half_width_of(const struct bb_spread *x, double df, double alpha)
{
	return bb_student_critical(alpha, df) * x->sd * sqrt(1 + 1 / x->n);
}

/* Returns the distance from the mean that one more value exceeds with probability alpha, if it
 * belongs to an occasion that is drawn at random. */
static struct bb_pooled_spread mixture(const struct bb_spread *x, size_t n, double alpha)
{
	double lo = 0, hi = 0, df = INFINITY;

	for (size_t i = 0; i < n; i++) {
		hi = fmax(hi, half_width_of(&x[i], x[i].n - 1, alpha));
		df = fmin(df, x[i].n - 1);
	}
	for (int k = 0; k < HALVINGS; k++) {
		double mid = (lo + hi) / 2, p = 0;

		for (size_t i = 0; i < n; i++)
			if (x[i].sd > 0)
				p += bb_student_two_sided(mid / (x[i].sd * sqrt(1 + 1 / x[i].n)),
							  x[i].n - 1) /
				     (double)n;
		if (p > alpha)
			lo = mid;
		else
			hi = mid;
	}
	return (struct bb_pooled_spread){hi, df};
}

void bb_offsets_of(const double *x, size_t n, double *ret_offset)
{
	double *copy = bb_memdup(x, n * sizeof(*copy)), median,
	       scale = sqrt((1 + 1 / (double)n) / (1 - (2 - M_PI / 2) / (double)n));

	median = bb_median(copy, n);
	free(copy);
	for (size_t i = 0; i < n; i++)
		ret_offset[i] = scale * fabs(x[i] - median);
}

struct bb_pooled_spread bb_pool_spreads(const struct bb_spread *x, size_t n, double *offset,
					size_t n_offsets, double alpha)
{
	size_t rank = (size_t)ceil((1 - alpha) * ((double)n_offsets + 1));
	double squares = 0, df = 0, ln = 0, parts = 0, k = (double)n - 1;
	struct bb_pooled_spread p = {NAN, NAN};
	struct bb_spread all = {0};

	if (!n)
		return p;
	/* The pooled variance is the mean of all variances, weighted by degrees of freedom. */
	for (size_t i = 0; i < n; i++) {
		squares += (x[i].n - 1) * x[i].sd * x[i].sd;
		df += x[i].n - 1;
		all.n += x[i].n;
	}
	all.sd = sqrt(squares / df);
	/* Bartlett's test. With one variance, or all of them 0, there is nothing to test. */
	for (size_t i = 0; i < n && all.sd > 0; i++) {
		ln += (x[i].n - 1) * 2 * log(all.sd / x[i].sd); /* INFINITY if sd is 0 */
		parts += 1 / (x[i].n - 1);
	}
	bool alike = n < 2 || !(all.sd > 0) ||
		     ln / (1 + (parts - 1 / df) / (3 * k)) <= bb_chi_square_limit(NORMAL_0_05, k);
	if (!alike && rank >= n_offsets)
		return mixture(x, n, alpha);
	p = (struct bb_pooled_spread){half_width_of(&all, df, alpha), df};
	if (alike)
		return p;
	bb_sort_doubles(offset, n_offsets);
	p.half_width = offset[rank - 1];
	return p;
}
