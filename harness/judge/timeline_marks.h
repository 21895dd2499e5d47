/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_TIMELINE_MARKS_H
#define BB_JUDGE_TIMELINE_MARKS_H

#include "judge/timeline.h"

/* How a timeline is read, by tables and by charts alike. */

/* Whether the point took part in the judgement: its run is whole, and of the machine that the
 * newest is of. */
bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p);

/* How far the point is from the baseline that it was judged by: 0.05 is 5 % more. NAN: there was
 * none. */
double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p);

/* The last point that was judged; NULL: there is none. */
const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c);

/* Where the level that the newest point is at began; NULL: nothing is known to have changed. */
const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c);

/* The mark of the case: that of its newest point. BB_HISTORY_VOID when nothing was judged. */
enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c);

/* Is it one to be named: suspect, regressed or improved? */
bool bb_history_is_news(enum bb_history_mark mark);

#endif
