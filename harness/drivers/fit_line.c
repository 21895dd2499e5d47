/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/fit_line.h"

#include "stats/quantile.h"

uint32_t bb_fit_line_shorter(uint32_t n)
{
	return n / 64 > 2 ? n / 64 : 2;
}

uint32_t bb_fit_line_longer(double run_ns, uint32_t most)
{
	return (uint32_t)fmax(fmin(BB_LINE_NS / run_ns, most), 8);
}

double bb_fit_line_slope(double y[2][BB_LINE_TIMES], uint32_t runs)
{
	double slopes[BB_LINE_TIMES * BB_LINE_TIMES];

	for (unsigned int i = 0; i < BB_LINE_TIMES; i++)
		for (unsigned int j = 0; j < BB_LINE_TIMES; j++)
			slopes[i * BB_LINE_TIMES + j] = (y[1][i] - y[0][j]) / runs;
	return bb_median(slopes, BB_LINE_TIMES * BB_LINE_TIMES);
}

int bb_fit_line__take(int (*time_runs)(void *arg, uint32_t runs, double *ret_ns), void *arg,
		      uint32_t n, struct bb_fitted_line *ret_line)
{
	uint32_t shorter = bb_fit_line_shorter(n);
	double t_ns[2][BB_LINE_TIMES], rest[2 * BB_LINE_TIMES];

	for (unsigned int i = 0; i < 2 * BB_LINE_TIMES; i++) {
		unsigned int longer = bb_fit_line_is_longer(i);
		int rc = time_runs(arg, longer ? n : shorter, &t_ns[longer][i / 2]);

		if (rc)
			return rc;
	}
	ret_line->slope_ns = bb_fit_line_slope(t_ns, n - shorter);
	for (unsigned int i = 0; i < 2 * BB_LINE_TIMES; i++)
		rest[i] = t_ns[i % 2][i / 2] - ret_line->slope_ns * (i % 2 ? n : shorter);
	ret_line->intercept_ns = bb_median(rest, 2 * BB_LINE_TIMES);
	return 0;
}
