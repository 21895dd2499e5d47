/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Measures the cost b of one more run. A call of n runs takes a + b n. A robust line (Theil 1950,
 * Sen 1968) through calls at two values of n gives a and b. Its slope is the median of the slopes
 * of all pairs of a shorter and a longer call. So a few calls with an interrupt in them do not
 * matter. */
#define BB_LINE_TIMES 5u /* number of calls at each of the two values of n */
/* Wall time of a longer call, ns. It is a tenth of the tick of a 1000 Hz timer, because the results
 * scatter if calls take more than such a tick (1 ms). */
#define BB_LINE_NS 100e3

struct bb_fitted_line {
	double slope_ns, intercept_ns;
};

/* Returns the number of runs of the shorter calls if the longer calls have `n`: a 64th of `n`, but
 * at least 2, because some kernels treat a single run differently. */
uint32_t bb_fit_line_shorter(uint32_t n);

/* Returns how many runs take BB_LINE_NS at `run_ns` per run: at least 8 and at most `most`. */
uint32_t bb_fit_line_longer(double run_ns, uint32_t most);

/* Returns 1 if call `i` of a line is a longer one, else 0. The order is ABBAABBAAB, so that a drift
 * affects shorter and longer calls alike. */
static inline unsigned int bb_fit_line_is_longer(unsigned int i)
{
	return (i + 1) / 2 % 2;
}

/* y[0][] are the times of the shorter calls. y[1][] are the times of the longer calls, which have
 * `runs` runs more. Returns the median of the slopes of all pairs y[0][i], y[1][k]. Returns NAN if
 * any time is NAN. */
double bb_fit_line_slope(double y[2][BB_LINE_TIMES], uint32_t runs);

/* Makes all calls of a line, and computes the line. The longer calls have `n` runs. time_runs()
 * makes a call of `runs` runs and writes its wall time to *ret_ns. Returns 0 or the error of
 * time_runs(). */
int bb_fit_line__take(int (*time_runs)(void *arg, uint32_t runs, double *ret_ns), void *arg,
		      uint32_t n, struct bb_fitted_line *ret_line);
