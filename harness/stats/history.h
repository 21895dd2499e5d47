/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Judges stored runs over time (docs/methods/history.md). r is the logarithm of a run's figure, for
 * example ln(latency / latency of the anchor in the same run); se is its standard error. A run is
 * beyond its baseline if
 *
 *         |r - median| > max(ln(1 + eps), t * sqrt(q^2 s^2 (1 + 1/W) + se^2))
 *
 * A run is judged by the W = window_min..window_max baseline runs before it: `median` is their
 * median, and s = 1.4826 * their MAD. q = max(1, se / the median of their standard errors), because
 * a disturbance that spreads the loads of a run also moves the whole run. t is Student's with W - 1
 * degrees of freedom at two-sided alpha. The right side is thus a prediction interval.
 *
 * A single run beyond the baseline is only suspect. The next valid run, judged by the same
 * baseline, confirms the change if it is beyond the baseline in the same direction. If the next run
 * is within its limits, but these limits are wider than the change, it cannot tell: it is marked
 * suspect and otherwise ignored. When a change is confirmed, the level changes at the first of the
 * two runs. A return to the baseline must be confirmed in the same way.
 *
 * The baseline contains all valid runs that can tell, except those at a changed level. When a
 * changed level has held for window_min runs, it becomes the baseline. Until then its runs are
 * marked REGRESSED or IMPROVED. A run's mark depends on earlier runs and on the first later run
 * that can tell, but on no run after that one.
 *
 * Several figures of the same runs may be given. The first figure is judged. Any other figure that
 * has a baseline cancels the change if the figure's value is three times as likely without the
 * change as with it ("positive" evidence: Kass & Raftery 1995, section 3.2). A changed program
 * moves all figures alike; a changed machine usually does not.
 */
#define BB_HISTORY_WINDOW_MAX 128

struct bb_history_rule {
	double eps;   /* practical threshold: 0.01 means 1 %; >= 0 */
	double alpha; /* two-sided significance level for Student's t, in (0, 1) */
	/* least and largest number of runs in the baseline: 2 <= window_min <= window_max <=
	 * BB_HISTORY_WINDOW_MAX */
	size_t window_min, window_max;
};

/* The rule with eps 1 %, alpha 1 %, window_min 20 and window_max 30. */
extern const struct bb_history_rule bb_history_default_rule;

enum bb_history_mark {
	BB_HISTORY_VOID,     /* the run has no figure (r is NAN); it is neither judged nor used */
	BB_HISTORY_LEARNING, /* there are fewer than window_min earlier runs */
	BB_HISTORY_STEADY,
	/* the run is beyond the baseline and no other run confirms it, or the run cannot tell */
	BB_HISTORY_SUSPECT,
	BB_HISTORY_REGRESSED,
	BB_HISTORY_IMPROVED,
};

struct bb_history_point {
	enum bb_history_mark mark;
	/* change of the level at this run: +1: it rises (slower); -1: it falls (faster); 0: it
	 * stays */
	int change;
	/* median of the baseline's r when the run was judged; NAN while learning or if void */
	double baseline;
	double limit; /* the run is beyond the baseline if |r - baseline| is above this; NAN while
			 learning or if void */
};

#define BB_HISTORY_FIGURES 3u
struct bb_history_figure {
	const double *r; /* r[n], in order of time; NAN: void. If the first figure of a run is void,
			    the whole run is void */
	/* se[n]: standard errors of r[n]; NULL: all are unknown. NAN, an unknown one, counts as 0,
	 * because the spread of earlier runs contains most of the error */
	const double *se;
};

/*
 * Judges n runs by n_figures figures, 1 to BB_HISTORY_FIGURES. The baseline and limit in
 * ret_points[n] are those of the first figure. Does not allocate; O(n * window_max). Returns 0, or
 * -EINVAL for n_figures or a rule out of bounds, an infinite r, or an se that is negative or
 * infinite.
 */
int bb_history_judge(const struct bb_history_figure *figures, size_t n_figures, size_t n,
		     const struct bb_history_rule *rule, struct bb_history_point *ret_points);

/* Computes how far a run is usually from what earlier runs predict, in ln: 1.4826 times the median
 * of |r - median of the 5 to window_min runs before it|, over r[n] in order of time. A few unusual
 * runs, or a changed program in the last runs, hardly change the result. `*ret_error` is NAN with
 * fewer than BB_HISTORY_ERROR_MIN such differences. */
#define BB_HISTORY_ERROR_MIN 10
void bb_history_error(const double *r, size_t n, const struct bb_history_rule *rule,
		      double *ret_error);

/* Returns the name of a mark, such as "steady"; "?" if out of range. */
const char *bb_history_mark_name(enum bb_history_mark mark);
