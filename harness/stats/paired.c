/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/paired.h"

#include "stats/quantile.h"
#include "stats/special.h"

size_t bb_signed_rank_critical(size_t n, double alpha)
{
	double m = (double)n, *prob, tail = 0;
	size_t total = 0, k = 0;

	if (!(alpha > 0 && alpha < 1))
		return 0;
	if (n > BB_SIGNED_RANK_EXACT_MAX) {
		double sd = sqrt(m * (m + 1) * (2 * m + 1) / 24), lo = 0, hi = 40, highest;

		for (int i = 0; i < 80; i++) {
			double mid = (lo + hi) / 2;

			if (bb_normal_upper(mid) > alpha / 2)
				lo = mid;
			else
				hi = mid;
		}
		highest = m * (m + 1) / 4 - hi * sd - 0.5;
		return highest < 0 ? 0 : (size_t)floor(highest) + 1;
	}
	/* prob[t] is the probability that the ranks of positive differences add up to t, if each
	 * rank belongs to one with probability 1/2. It is exact for n < 53. */
	prob = bb_calloc(n * (n + 1) / 2 + 1, sizeof(*prob));
	prob[0] = 1;
	for (size_t rank = 1; rank <= n; rank++) {
		total += rank;
		for (size_t t = total; t >= rank; t--)
			prob[t] = 0.5 * (prob[t] + prob[t - rank]);
		for (size_t t = 0; t < rank; t++)
			prob[t] *= 0.5;
	}
	for (; k <= total; k++) {
		tail += prob[k];
		if (2 * tail > alpha)
			break;
	}
	free(prob);
	return k;
}

/* Returns how many Walsh averages of x[n] (ascending) are <= t, in O(n): as i grows, the last j
 * with (x[i] + x[j]) / 2 <= t falls. */
static uint64_t walsh_at_most(const double *x, size_t n, double t)
{
	uint64_t count = 0;
	size_t end = n;

	for (size_t i = 0; i < n; i++) {
		while (end > i && 0.5 * (x[i] + x[end - 1]) > t)
			end--;
		if (end <= i)
			break;
		count += end - i;
	}
	return count;
}

/* Maps doubles to integers of the same order; from_key() maps them back. So a bisection of these
 * integers finds any double in at most 64 steps. */
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

/* Returns the k-th smallest Walsh average of x[n] exactly, k >= 1, without computing all. */
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

struct bb_signed_rank bb_signed_rank(const double *d, size_t n, double alpha)
{
	struct bb_signed_rank result = {NAN, {NAN, NAN}};
	uint64_t n_walsh = (uint64_t)n * (n + 1) / 2;
	size_t k = bb_signed_rank_critical(n, alpha);

	if (!n || !(alpha > 0 && alpha < 1) || BB_ANY(d, n, !isfinite(*it)))
		return result;
	double *x = bb_memdup(d, n * sizeof(*x));
	bb_sort_doubles(x, n);
	result.estimate =
		0.5 * (walsh_ranked(x, n, (n_walsh + 1) / 2) + walsh_ranked(x, n, n_walsh / 2 + 1));
	if (k)
		result.interval = (struct bb_interval){walsh_ranked(x, n, k),
						       walsh_ranked(x, n, n_walsh + 1 - k)};
	free(x);
	return result;
}

struct bb_signed_rank bb_robust_rank(const double *d, size_t n, double alpha)
{
	struct bb_signed_rank r = bb_signed_rank(d, n, alpha);
	double few[BB_FEW];

	if (!isnan(r.estimate) && n < BB_FEW) {
		memcpy(few, d, n * sizeof(*few));
		r.estimate = bb_median(few, n);
	}
	return r;
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
	/* M_n(s) falls as s grows to n / 2, where it is at most 1, so n / 2 is never rejected. */
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
	double *sorted = k ? bb_memdup(d, n * sizeof(*sorted)) : NULL;

	if (!sorted)
		return interval;
	bb_sort_doubles(sorted, n);
	if (!isnan(sorted[n - 1]))
		interval = (struct bb_interval){sorted[k - 1], sorted[n - k]};
	free(sorted);
	return interval;
}

double bb_eprocess_p(const double *d, size_t n, double theta, int direction)
{
	/* number of values that are not strictly beyond theta */
	size_t against = BB_SUM(d, n, !(direction > 0 ? *it > theta : *it < theta));

	if (isnan(theta) || BB_ANY(d, n, isnan(*it)))
		return NAN;
	return 2 * against < n ? fmin(1, exp(-bb_eprocess_log(n, against))) : 1;
}

/* The sum is an integer, so that its last bit does not depend on the order of the values. */
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

struct bb_ab_block bb_ab_block_difference(const uint64_t *a_ns, size_t na, const uint64_t *b_ns,
					  size_t nb, double tick_ns, double *scratch)
{
	struct bb_ab_block block = {NAN, NAN, NAN, NAN, 0, 0};
	size_t n = na + nb;

	if (!na || !nb)
		return block;
	for (size_t i = 0; i < na; i++)
		scratch[i] = (double)a_ns[i];
	for (size_t i = 0; i < nb; i++)
		scratch[na + i] = (double)b_ns[i];
	bb_sort_doubles(scratch, n);
	double iqr = bb_quantile_sorted(scratch, n, 0.75) - bb_quantile_sorted(scratch, n, 0.25);
	block.threshold_ns = bb_quantile_sorted(scratch, n, 0.5) + bb_censor_margin(iqr, tick_ns);
	block.mean_a_ns = kept_mean(a_ns, na, block.threshold_ns, &block.outliers_a);
	block.mean_b_ns = kept_mean(b_ns, nb, block.threshold_ns, &block.outliers_b);
	block.d = block.mean_a_ns > 0 && block.mean_b_ns > 0
			  ? log(block.mean_b_ns) - log(block.mean_a_ns)
			  : NAN;
	return block;
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
