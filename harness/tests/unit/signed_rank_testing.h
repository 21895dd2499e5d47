/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <math.h>
#include <stdlib.h>

struct signed_rank_p {
	double greater;   /* P(T >= t), small if d is above theta */
	double less;      /* P(T <= t), small if d is below theta */
	double two_sided; /* min(1, 2 min(greater, less)) */
};

/*
 * Computes the p-values of "d[n] is symmetric about theta" (Wilcoxon 1945). They are exact and
 * conditional on the ranks seen, over all 2^n signs. Ties in |d - theta| share midranks.
 * Differences of 0 are ranked and then left out (Pratt 1959).
 */
static inline struct signed_rank_p signed_rank_p(const double *d, size_t n, double theta)
{
	struct signed_rank_p p = {0, 0, 0};
	double *prob = calloc(n * (n + 1) + 1, sizeof(*prob));
	size_t total = 0, seen = 0;

	if (!prob)
		abort();
	prob[0] = 1; /* prob[t]: probability that the doubled ranks with sign + add up to t */
	for (size_t i = 0; i < n; i++) {
		size_t rank_x2 = 1;

		if (d[i] == theta)
			continue;
		for (size_t j = 0; j < n; j++) {
			double more = fabs(d[i] - theta) - fabs(d[j] - theta);

			rank_x2 += more > 0 ? 2u : more < 0 ? 0u : 1u;
		}
		for (size_t t = total + rank_x2 + 1; t-- > 0;)
			prob[t] = 0.5 * (prob[t] + (t >= rank_x2 ? prob[t - rank_x2] : 0));
		total += rank_x2;
		seen += d[i] > theta ? rank_x2 : 0;
	}
	for (size_t t = 0; t <= total; t++) {
		p.less += t <= seen ? prob[t] : 0;
		p.greater += t >= seen ? prob[t] : 0;
	}
	free(prob);
	p.two_sided = fmin(1, 2 * fmin(p.greater, p.less));
	return p;
}
