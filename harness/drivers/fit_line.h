/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The cost of one more run, from wall times. A call of n runs takes a + n b. a and b come from a
 * robust line through calls at two values of n (Theil 1950, Sen 1968). Its slope is the median of
 * the slopes between all pairs of calls, so that a call with an interrupt in it does not matter. */
#define BB_LINE_TIMES 5u /* calls at each of the two values */
/* Wall time that a call with the larger n should take, ns: a tenth of a tick of 1000 Hz. Above 1 ms
 * results scatter. */
#define BB_LINE_NS 100e3

struct bb_fit_timer {
	/* Returns in *ret_ns the wall time of n runs, ns. 0 or -errno. */
	int (*time)(void *arg, uint32_t n, double *ret_ns);
	void *arg;
};

struct bb_fitted_line {
	double slope_ns, intercept_ns;
};

/* Returns the number of runs of a shorter call: a 64th of `n`, the number of a longer call. It
 * is never 1, because some kernels treat a single run differently. */
uint32_t bb_fit_line_shorter(uint32_t n);

/* Number of runs that take BB_LINE_NS at `run_ns` each: at least 8 and at most `most`. */
uint32_t bb_fit_line_longer(double run_ns, uint32_t most);

/* 1 if call `i` of a line is a longer one, else 0. The order is ABBAABBAAB, so that a drift
 * affects both kinds alike. Call i is number i / 2 of its kind. */
static inline unsigned int bb_fit_line_is_longer(unsigned int i)
{
	return (i + 1) / 2 % 2;
}

/* Median slope between y[0][] and y[1][], which differ by `runs` runs. NAN if any value is NAN. */
double bb_fit_line_slope(double y[2][BB_LINE_TIMES], uint32_t runs);

/* Makes the calls of one line and fits it. Returns 0, or the timer's error. */
int bb_fit_line__take(const struct bb_fit_timer *timer, uint32_t n,
		      struct bb_fitted_line *ret_line);
