/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_HISTORY_H
#define BB_STATS_HISTORY_H

#include "base/std.h"

/*
 * Stored runs over time (docs/methods/history.md). r = ln(program / anchor program of the same
 * run) with standard error se. A run is beyond its baseline when
 *
 *	|r - median| > max(ln(1 + eps), t * sqrt(q^2 s^2 (1 + 1/W) + se^2))
 *
 * over the W = window_min..window_max values last before it, s = 1.4826 * MAD, q = max(1, se / the
 * median of theirs), t = Student's of one degree of freedom less than W, at two-sided alpha: a
 * prediction interval. What disturbs the loads of a run moves all of it as well, so that its error
 * grows with se. A single run beyond is only suspect: the next valid run that can tell,
 * judged by the same baseline, must agree in direction. A run within limits that are wider than the
 * change in question cannot tell: it is suspect and otherwise left out. Two in agreement change the
 * level, and the first of them is the change point; the way back to the baseline takes two as well.
 *
 * The baseline is made of all valid runs but those at a changed level. When the changed level has
 * held window_min runs it becomes the baseline (the change is history, not news), and marks are
 * REGRESSED or IMPROVED until then. A run's mark depends on the runs up to the first after it that
 * can tell, and on no later one.
 *
 * Of several figures of the same runs, the first is judged. Another that has a baseline denies the
 * change where it is three times as likely without it as with it ("positive" evidence: Kass &
 * Raftery 1995, section 3.2): a changed program moves them all alike, a changed machine as a rule
 * not.
 */
#define BB_HISTORY_WINDOW_MAX 128

struct bb_history_rule {
	double eps;   /* practical threshold, 0.01 means 1 %; >= 0 */
	double alpha; /* for t, two-sided, in (0, 1) */
	/* 2 <= window_min <= window_max <= BB_HISTORY_WINDOW_MAX */
	size_t window_min, window_max;
};

/* eps 1 %, alpha 1 %, windows 20..30. */
extern const struct bb_history_rule bb_history_default_rule;

enum bb_history_mark {
	BB_HISTORY_VOID,     /* r is NAN, so the run is neither judged nor used */
	BB_HISTORY_LEARNING, /* fewer than window_min earlier runs */
	BB_HISTORY_STEADY,
	/* beyond, and the next run disagrees or is missing: run again */
	BB_HISTORY_SUSPECT,
	BB_HISTORY_REGRESSED,
	BB_HISTORY_IMPROVED,
};

struct bb_history_point {
	enum bb_history_mark mark;
	int change; /* change point: +1 if the level rises here (slower), -1 if it falls, else 0 */
	/* median it was judged by, ln; NAN while learning or if void */
	double baseline;
	double limit; /* beyond means |r - baseline| > limit; NAN while learning or if void */
};

#define BB_HISTORY_FIGURES 3u
struct bb_history_figure {
	const double *r; /* r[n], in order of time; NAN: void, and if of the first figure the whole
			    run is void */
	/* se[n] or NULL; NAN counts as 0, because the spread of the history contains most of it */
	const double *se;
};

/*
 * Judge n runs by n_figures figures, 1 to BB_HISTORY_FIGURES; baseline and limit of a point are of
 * the first. ret_points[n]. Does not allocate; O(n * window_max). -EINVAL for a rule out of bounds,
 * an infinite r or an se that is negative or infinite.
 */
int bb_history_judge(const struct bb_history_figure *figures, size_t n_figures, size_t n,
		     const struct bb_history_rule *rule, struct bb_history_point *ret_points);

/*
 * How well the runs before predict a run: 1.4826 times the median of |r - median of the last 5 to
 * window_min|, over r[n] in order of time. It is the same with a few odd runs among them or with a
 * changed program at the end, so that a young history chooses its predictor as an old one does.
 * *ret_error is NAN with fewer than BB_HISTORY_ERROR_MIN such differences. 0 or -ENOMEM.
 */
#define BB_HISTORY_ERROR_MIN 10
int bb_history_error(const double *r, size_t n, const struct bb_history_rule *rule,
		     double *ret_error);

/* "void", "learning", "steady", "suspect", "regressed", "improved"; "?" if out of range. */
const char *bb_history_mark_name(enum bb_history_mark mark);

#endif
