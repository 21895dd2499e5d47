/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/ab_block.h"

#include <errno.h>
#include <math.h>

#include "stats/estimate.h"
#include "stats/quantile.h"

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
