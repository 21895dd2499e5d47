/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The cost of one more run, from wall times. A call of n runs takes a + b n. a and b come from a
 * robust line (Theil 1950, Sen 1968) through calls at two values of n. Its slope is the median of
 * the slopes between all pairs of a call with few and a call with many runs, so a few calls with an
 * interrupt in them do not matter. */
#define BB_LINE_TIMES 5u /* number of calls at each of the two values of n */
/* Wall time that a call with many runs should take, ns: a tenth of a tick of a 1000 Hz timer. If
 * the calls take more than 1 ms, the results scatter. */
#define BB_LINE_NS 100e3

struct bb_fitted_line {
	double slope_ns, intercept_ns;
};

/* Returns the number of runs of a shorter call if a longer call has `n` runs: a 64th of `n`, but at
 * least 2, because some kernels treat a single run differently. */
uint32_t bb_fit_line_shorter(uint32_t n);

/* Returns the number of runs of a longer call, which takes BB_LINE_NS at `run_ns` per run: at least
 * 8 and at most `most`. */
uint32_t bb_fit_line_longer(double run_ns, uint32_t most);

/* Returns 1 if call `i` of a line is a longer one, else 0. The order is ABBAABBAAB, so that a drift
 * affects shorter and longer calls alike. Call `i` is number i / 2 among the calls of its
 * length. */
static inline unsigned int bb_fit_line_is_longer(unsigned int i)
{
	return (i + 1) / 2 % 2;
}

/* Returns the median slope between y[0][] of the shorter calls and y[1][] of the longer ones, which
 * have `runs` runs more than the shorter ones. NAN if any value is NAN. */
double bb_fit_line_slope(double y[2][BB_LINE_TIMES], uint32_t runs);

/* Makes the shorter and the longer calls of a line, and computes the line. A longer call has `n`
 * runs. time_runs() makes a call of `runs` runs, and *ret_ns receives its wall time, ns. Returns 0,
 * or the error of time_runs(). */
int bb_fit_line__take(int (*time_runs)(void *arg, uint32_t runs, double *ret_ns), void *arg,
		      uint32_t n, struct bb_fitted_line *ret_line);
