/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/strata.h"

#include <math.h>
#include <stdlib.h>

#include "stats/quantile.h"
#include "stats/special.h"

#define SLOW_SPREADS 5.0
#define SLOW_LEAST 0.01

struct stratum {
	double share, sum, squares; /* squares: of the differences from the mean */
	size_t n;
};

static double mean_of(const struct stratum *s)
{
	return s->sum / (double)s->n;
}

/* False where a load's stratum or share is not known. */
static bool sort_into(const double *x, const int *stratum, const double *share, size_t n,
		      struct stratum *strata)
{
	for (size_t i = 0; i < n; i++) {
		struct stratum *s;

		if (isnan(x[i]))
			continue;
		if (stratum[i] < 0 || stratum[i] >= BB_STRATA || !(share[i] > 0))
			return false;
		s = &strata[stratum[i]];
		s->share = share[i];
		s->sum += x[i];
		s->n++;
	}
	for (size_t i = 0; i < n; i++) {
		double d;

		if (isnan(x[i]))
			continue;
		d = x[i] - mean_of(&strata[stratum[i]]);
		strata[stratum[i]].squares += d * d;
	}
	return true;
}

bool bb_stratified_mean(const double *x, const int *stratum, const double *share, size_t n,
			double alpha, struct bb_stratified *ret)
{
	struct stratum strata[BB_STRATA] = {0};
	struct bb_stratified e = {.least = INFINITY, .most = -INFINITY};
	double covered = 0, squares = 0, factor = 0, half;

	if (!sort_into(x, stratum, share, n, strata))
		return false;
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

/* Shares by which all but the least of each stratum are above it, into above[n]. */
static size_t shares_above(const double *x, const int *stratum, size_t n, const size_t *least,
			   double *above)
{
	size_t n_above = 0;

	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) && least[stratum[i]] != i)
			above[n_above++] = x[i] / x[least[stratum[i]]] - 1;
	return n_above;
}

size_t bb_strata_set_aside(double *x, const int *stratum, size_t n)
{
	double *above = calloc(n + 1, sizeof(*above)), limit;
	size_t least[BB_STRATA], n_above, n_aside = 0;

	if (!above)
		return 0;
	for (size_t h = 0; h < BB_STRATA; h++)
		least[h] = n;
	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) &&
		    (least[stratum[i]] == n || x[i] < x[least[stratum[i]]]))
			least[stratum[i]] = i;
	n_above = shares_above(x, stratum, n, least, above);
	limit = n_above ? 1 + fmax(SLOW_SPREADS * bb_median(above, n_above), SLOW_LEAST) : INFINITY;
	for (size_t i = 0; i < n; i++)
		if (is_value(x, stratum, i) && x[i] > x[least[stratum[i]]] * limit) {
			x[i] = NAN;
			n_aside++;
		}
	free(above);
	return n_aside;
}
