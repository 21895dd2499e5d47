/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_FIT_LINE_H
#define BB_DRIVERS_FIT_LINE_H

#include "base/std.h"

/*
 * The cost of one more run, from the wall time of n runs in one go against n: a go takes a + n b,
 * and b and a come from a robust line through times at two values of n (Theil 1950, Sen 1968: the
 * median of the slopes of all pairs), so that a time with an interrupt in it does not matter.
 */
#define BB_LINE_TIMES 5u /* at each of the two values */
#define BB_LINE_NS                                                                                 \
	100e3 /* of the longer: a tenth of a tick of 1000 Hz; above 1 ms results scatter */

struct bb_fit_timer {
	/* wall time of n runs; 0 or -errno */
	int (*time)(void *arg, uint32_t n, double *ret_ns);
	void *arg;
};

struct bb_fitted_line {
	double slope_ns, intercept_ns;
};

/* How many runs the shorter go has, a 64th of the longer's: never one, which some kernels treat in
 * a way of its own. */
uint32_t bb_fit_line_shorter(uint32_t n);

/* How many runs take BB_LINE_NS, at `run_ns` each: from 8, however slow, to `most`. */
uint32_t bb_fit_line_longer(double run_ns, uint32_t most);

/* Go `i` of 2 BB_LINE_TIMES is a longer one: ABBAABBAAB, so that a drift hits both alike. It is the
 * i/2-th of its kind. */
static inline unsigned int bb_fit_line_is_longer(unsigned int i)
{
	return (i + 1) / 2 % 2;
}

/* The median slope of y[1][] against y[0][], `runs` apart; NAN where any y is. */
double bb_fit_line_slope(double y[2][BB_LINE_TIMES], uint32_t runs);

/* The line through the wall times of goes of `shorter` (t_ns[0][]) and `longer` (t_ns[1][]) runs.
 */
void bb_fit_line_fit(double t_ns[2][BB_LINE_TIMES], uint32_t shorter, uint32_t longer,
		     struct bb_fitted_line *ret_line);

/* One line: BB_LINE_TIMES goes of either length, and the line through them. 0 or the timer's error.
 * */
int bb_fit_line__take(const struct bb_fit_timer *timer, uint32_t n,
		      struct bb_fitted_line *ret_line);

#endif
