/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/timeline_marks.h"

#include <math.h>

bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p)
{
	return !p->differs && !t->runs[p->run].incomplete;
}

double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p)
{
	return expm1(bb_timeline__ln_judged(c, p) - p->judged.baseline);
}

const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c)
{
	for (size_t i = c->n_points; i-- > 0;)
		if (bb_timeline__is_judged(t, &c->points[i]) &&
		    c->points[i].judged.mark != BB_HISTORY_VOID)
			return &c->points[i];
	return NULL;
}

const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c)
{
	for (size_t i = c->n_points; i-- > 0;)
		if (c->points[i].judged.change)
			return &c->points[i];
	return NULL;
}

enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);

	return p ? p->judged.mark : BB_HISTORY_VOID;
}

bool bb_history_is_news(enum bb_history_mark mark)
{
	return mark == BB_HISTORY_SUSPECT || mark == BB_HISTORY_REGRESSED ||
	       mark == BB_HISTORY_IMPROVED;
}
