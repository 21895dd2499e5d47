/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/paired.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats/quantile.h"
#include "stats/special.h"

/* Magnitude of a difference with its sign (-1, 0, +1) and its rank, doubled so that midranks are
 * whole. */
struct ranked {
	double magnitude;
	int sign;
	size_t rank_x2;
};

/*
 * Add an item of that weight, whose coin may fall either way, to prob[t] = P(sum of the weights of
 * heads = t) for t = 0..total. prob has room up to total + weight. Sums of 2^-n are exact while n
 * < 53.
 */
static void toss(double *prob, size_t total, size_t weight)
{
	for (size_t t = total + 1; t <= total + weight; t++)
		prob[t] = 0;
	for (size_t t = total + weight; t >= weight; t--)
		prob[t] = 0.5 * (prob[t] + prob[t - weight]);
	for (size_t t = 0; t < weight; t++)
		prob[t] *= 0.5;
}

static double normal_critical(double tail)
{
	double lo = 0, hi = 40;

	for (int i = 0; i < 80; i++) {
		double mid = (lo + hi) / 2;

		if (bb_normal_upper(mid) > tail)
			lo = mid;
		else
			hi = mid;
	}
	return hi;
}

int bb_signed_rank_critical(size_t n, double alpha, size_t *ret_k)
{
	double m = (double)n, *prob, tail = 0;
	size_t total = 0, k = 0;

	if (!(alpha > 0 && alpha < 1))
		return -EINVAL;
	if (n > BB_SIGNED_RANK_EXACT_MAX) {
		double sd = sqrt(m * (m + 1) * (2 * m + 1) / 24);
		double highest = m * (m + 1) / 4 - normal_critical(alpha / 2) * sd - 0.5;

		*ret_k = highest < 0 ? 0 : (size_t)floor(highest) + 1;
		return 0;
	}
	prob = malloc((n * (n + 1) / 2 + 1) * sizeof(*prob));
	if (!prob)
		return -ENOMEM;
	prob[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		toss(prob, total, rank);
		total += rank;
	}
	for (; k <= total; k++) {
		tail += prob[k];
		if (2 * tail > alpha)
			break;
	}
	free(prob);
	*ret_k = k;
	return 0;
}

static int by_magnitude(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->magnitude, y = ((const struct ranked *)b)->magnitude;

	return (x > y) - (x < y);
}

static void rank_them(struct ranked *r, size_t n)
{
	qsort(r, n, sizeof(*r), by_magnitude);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && r[end].magnitude == r[i].magnitude;)
			end++;
		for (size_t j = i; j < end; j++)
			r[j].rank_x2 = i + 1 + end; /* ranks i + 1 .. end, counted from 1 */
	}
}

/* P(T <= t) and P(T >= t) of the sum T of doubled ranks whose signs are fair coins; prob[sum + 1]
 * is scratch. */
static void exact_tails(const struct ranked *r, size_t n, size_t t, double *prob,
			struct bb_signed_rank_p *ret_p)
{
	size_t total = 0;

	prob[0] = 1;
	for (size_t i = 0; i < n; i++) {
		if (!r[i].sign)
			continue;
		toss(prob, total, r[i].rank_x2);
		total += r[i].rank_x2;
	}
	ret_p->less = ret_p->greater = 0;
	for (size_t i = 0; i <= total; i++) {
		ret_p->less += i <= t ? prob[i] : 0;
		ret_p->greater += i >= t ? prob[i] : 0;
	}
}

/* The same by the normal approximation; the variance of the ranks themselves is the correction for
 * ties. */
static void normal_tails(const struct ranked *r, size_t n, double t, struct bb_signed_rank_p *ret_p)
{
	double mean = 0, variance = 0, sd;

	for (size_t i = 0; i < n; i++) {
		double rank = r[i].sign ? (double)r[i].rank_x2 : 0;

		mean += rank / 2;
		variance += rank * rank / 4;
	}
	sd = sqrt(variance);
	/* Half a step of the undoubled sum is 1 here. */
	ret_p->greater = sd > 0 ? bb_normal_upper((t - 1 - mean) / sd) : 1;
	ret_p->less = sd > 0 ? bb_normal_upper((mean - t - 1) / sd) : 1;
}

int bb_signed_rank_test(const double *d, size_t n, double theta, struct bb_signed_rank_p *ret_p)
{
	struct bb_signed_rank_p p = {1, 1, 1};
	size_t t = 0, total = 0;
	double *prob = NULL;
	struct ranked *r;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(d[i]))
			return -EINVAL;
	if (!isfinite(theta))
		return -EINVAL;
	r = malloc((n ? n : 1) * sizeof(*r));
	if (!r)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		double v = d[i] - theta;

		r[i] = (struct ranked){fabs(v), (v > 0) - (v < 0), 0};
	}
	rank_them(r, n);
	for (size_t i = 0; i < n; i++) {
		t += r[i].sign > 0 ? r[i].rank_x2 : 0;
		total += r[i].sign ? r[i].rank_x2 : 0;
	}
	if (n <= BB_SIGNED_RANK_EXACT_MAX)
		prob = malloc((total + 1) * sizeof(*prob));
	if (prob)
		exact_tails(r, n, t, prob, &p);
	else if (n > BB_SIGNED_RANK_EXACT_MAX)
		normal_tails(r, n, (double)t, &p);
	free(r);
	free(prob);
	if (!prob && n <= BB_SIGNED_RANK_EXACT_MAX)
		return -ENOMEM;
	p.two_sided = fmin(1, 2 * fmin(p.greater, p.less));
	*ret_p = p;
	return 0;
}

static double walsh(double a, double b)
{
	return 0.5 * (a + b);
}

/* How many Walsh averages of x[n], ascending, are <= t. O(n): as i goes up, the last partner goes
 * down. */
static uint64_t walsh_at_most(const double *x, size_t n, double t)
{
	uint64_t count = 0;
	size_t end = n;

	for (size_t i = 0; i < n; i++) {
		while (end > i && walsh(x[i], x[end - 1]) > t)
			end--;
		if (end <= i)
			break;
		count += end - i;
	}
	return count;
}

/* Doubles in their order as whole numbers, and back: bisecting these visits every double in at most
 * 64 steps. */
static uint64_t to_key(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return bits >> 63 ? ~bits : bits | 1ULL << 63;
}

static double from_key(uint64_t key)
{
	uint64_t bits = key >> 63 ? key & ~(1ULL << 63) : ~key;
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* The k-th smallest Walsh average, k counted from 1: exactly, without forming the n (n + 1) / 2 of
 * them. */
static double walsh_ranked(const double *x, size_t n, uint64_t k)
{
	uint64_t lo = to_key(x[0]), hi = to_key(x[n - 1]);

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (walsh_at_most(x, n, from_key(mid)) >= k)
			hi = mid;
		else
			lo = mid + 1;
	}
	return from_key(lo) + 0.0; /* -0 becomes +0 */
}

int bb_signed_rank(const double *d, size_t n, double alpha, struct bb_signed_rank *ret_result)
{
	struct bb_signed_rank result = {NAN, {NAN, NAN}, 1};
	struct bb_signed_rank_p p;
	uint64_t n_walsh = (uint64_t)n * (n + 1) / 2;
	double *x;
	size_t k;
	int rc;

	rc = bb_signed_rank_critical(n, alpha, &k);
	if (!rc)
		rc = bb_signed_rank_test(d, n, 0, &p);
	if (rc)
		return rc;
	result.p = p.two_sided;
	if (n) {
		x = malloc(n * sizeof(*x));
		if (!x)
			return -ENOMEM;
		memcpy(x, d, n * sizeof(*x));
		bb_sort_doubles(x, n);
		result.estimate = walsh(walsh_ranked(x, n, (n_walsh + 1) / 2),
					walsh_ranked(x, n, n_walsh / 2 + 1));
		if (k) {
			result.interval.lo = walsh_ranked(x, n, k);
			result.interval.hi = walsh_ranked(x, n, n_walsh + 1 - k);
		}
		free(x);
	}
	*ret_result = result;
	return 0;
}

double bb_eprocess_log(size_t n, size_t s)
{
	double m = (double)n, heads = (double)s;

	if (s > n)
		return NAN;
	if (!n)
		return 0;
	return m * M_LN2 + bb_lgamma(heads + 0.5) + bb_lgamma(m - heads + 0.5) - log(M_PI) -
	       bb_lgamma(m + 1);
}

size_t bb_eprocess_rank(size_t n, double alpha)
{
	double limit = -log(alpha);
	size_t lo = 0, hi = n / 2;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	/* M falls towards s = n / 2, where it is at most 1 and never rejected. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (bb_eprocess_log(n, mid) >= limit)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct bb_interval bb_eprocess_interval(const double *d, size_t n, double alpha)
{
	struct bb_interval interval = {NAN, NAN};
	size_t k = bb_eprocess_rank(n, alpha);
	double *sorted = k ? malloc(n * sizeof(*sorted)) : NULL;

	if (!sorted)
		return interval;
	memcpy(sorted, d, n * sizeof(*sorted));
	bb_sort_doubles(sorted, n);
	if (!isnan(sorted[n - 1]))
		interval = (struct bb_interval){sorted[k - 1], sorted[n - k]};
	free(sorted);
	return interval;
}

double bb_eprocess_p(const double *d, size_t n, double theta, int direction)
{
	size_t against = 0; /* those that do not lie strictly beyond theta */

	for (size_t i = 0; i < n; i++) {
		if (isnan(d[i]))
			return NAN;
		against += !(direction > 0 ? d[i] > theta : d[i] < theta);
	}
	if (isnan(theta))
		return NAN;
	return 2 * against < n ? fmin(1, exp(-bb_eprocess_log(n, against))) : 1;
}

/* Mean of the values <= threshold. Summed as integers: the order of the values cannot touch the
 * last bit. */
static double kept_mean(const uint64_t *x_ns, size_t n, double threshold_ns, size_t *ret_outliers)
{
	uint64_t sum = 0;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if ((double)x_ns[i] <= threshold_ns) {
			sum += x_ns[i];
			kept++;
		}
	}
	*ret_outliers = n - kept;
	return kept ? (double)sum / (double)kept : NAN;
}

int bb_ab_block_difference(const uint64_t *a_ns, size_t na, const uint64_t *b_ns, size_t nb,
			   double tick_ns, double *scratch, struct bb_ab_block *ret_block)
{
	struct bb_ab_block block;
	size_t n = na + nb;
	double iqr;

	if (!na || !nb)
		return -EINVAL;
	for (size_t i = 0; i < na; i++)
		scratch[i] = (double)a_ns[i];
	for (size_t i = 0; i < nb; i++)
		scratch[na + i] = (double)b_ns[i];
	bb_sort_doubles(scratch, n);
	iqr = bb_quantile_sorted(scratch, n, 0.75) - bb_quantile_sorted(scratch, n, 0.25);
	block.threshold_ns = bb_quantile_sorted(scratch, n, 0.5) + bb_censor_margin(iqr, tick_ns);
	block.mean_a_ns = kept_mean(a_ns, na, block.threshold_ns, &block.outliers_a);
	block.mean_b_ns = kept_mean(b_ns, nb, block.threshold_ns, &block.outliers_b);
	block.d = block.mean_a_ns > 0 && block.mean_b_ns > 0
			  ? log(block.mean_b_ns) - log(block.mean_a_ns)
			  : NAN;
	*ret_block = block;
	return 0;
}

double bb_ab_pair_difference(double *d, size_t n, size_t *ret_used)
{
	size_t used = 0;

	bb_sort_doubles(d, n); /* NANs last */
	while (used < n && !isnan(d[used]))
		used++;
	if (ret_used)
		*ret_used = used;
	return bb_quantile_sorted(d, used, 0.5);
}
