/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Judges stored runs over time (docs/methods/history.md). r is the logarithm of a run's figure, for
 * example of its latency; se is the standard error of r. A run is beyond its baseline if
 *
 *         |r - median| > max(ln(1 + eps), t * sqrt(q^2 s^2 (1 + 1/W) + se^2))
 *
 * The baseline of a run is made of W = window_min..window_max runs before it. `median` is the
 * median of their r, and s = 1.4826 * their MAD. q = max(1, se / the median of their se), because a
 * disturbance that spreads the loads of a run also moves the whole run. t is Student's with W - 1
 * degrees of freedom at two-sided alpha. So the right side is a prediction interval.
 *
 * One run beyond the baseline is only suspect. The next valid run confirms the change if it is
 * beyond the baseline in the same direction. If it is within its limits, but these are wider than
 * the change, it cannot tell: it is marked suspect and otherwise ignored. A confirmed change begins
 * at the first of the two runs. A return to the baseline must be confirmed in the same way.
 *
 * Runs after a confirmed change are marked REGRESSED or IMPROVED, and do not enter the baseline.
 * When there are window_min of them, they become the baseline. A run's mark depends on earlier runs
 * and on the first later run that can tell, but on no run after that one.
 *
 * If the runs have several figures, the first one is judged. Any other figure that has a baseline
 * cancels the change if its value is three times as likely without the change as with it
 * ("positive" evidence: Kass & Raftery 1995, section 3.2). A changed program moves all figures
 * alike; a changed machine usually does not.
 */
#define BB_HISTORY_WINDOW_MAX 128

struct bb_history_rule {
	double eps;   /* smallest change that matters: 0.01 means 1 %; >= 0 */
	double alpha; /* two-sided significance level, in (0, 1) */
	/* number of runs in the baseline: 2 <= window_min <= window_max <= BB_HISTORY_WINDOW_MAX */
	size_t window_min, window_max;
};

/* eps 1 %, alpha 1 %, window_min 20, window_max 30 */
extern const struct bb_history_rule bb_history_default_rule;

enum bb_history_mark {
	BB_HISTORY_VOID,     /* the run has no figure (r is NAN) and is not used */
	BB_HISTORY_LEARNING, /* there are fewer than window_min earlier runs */
	BB_HISTORY_STEADY,
	/* the run is beyond the baseline and not confirmed, or it cannot tell */
	BB_HISTORY_SUSPECT,
	BB_HISTORY_REGRESSED,
	BB_HISTORY_IMPROVED,
};

struct bb_history_point {
	enum bb_history_mark mark;
	/* +1 if the figure rises (slower) for good at this run, -1 if it falls, else 0 */
	int change;
	/* median of the baseline's r; NAN while learning or if void */
	double baseline;
	/* limit of |r - baseline|; NAN while learning or if void */
	double limit;
};

#define BB_HISTORY_FIGURES 3u
struct bb_history_figure {
	/* r[n], in order of time. NAN is void. A run is void if its first figure is void. */
	const double *r;
	/* Standard errors of r[n], or NULL. An unknown one is NAN and counts as 0, because the
	 * spread of earlier runs contains most of the error. */
	const double *se;
};

/* Judges n runs by n_figures figures, 1 to BB_HISTORY_FIGURES. The baseline and limit in
 * ret_points[n] are those of the first figure. Takes O(n * window_max). Returns 0, or -EINVAL if an
 * argument is out of bounds, an r is infinite, or an se is negative or infinite. */
int bb_history_judge(const struct bb_history_figure *figures, size_t n_figures, size_t n,
		     const struct bb_history_rule *rule, struct bb_history_point *ret_points);

/* Computes how well earlier runs predict a run: 1.4826 times the median of |r - median of the 5 to
 * window_min runs before it|. A few unusual runs, or a changed program in the last runs, hardly
 * change the result. `*ret_error` is NAN with fewer than BB_HISTORY_ERROR_MIN differences. */
#define BB_HISTORY_ERROR_MIN 10
void bb_history_error(const double *r, size_t n, const struct bb_history_rule *rule,
		      double *ret_error);

const char *bb_history_mark_name(enum bb_history_mark mark);
