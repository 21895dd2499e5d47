/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/flow.h"

#include <math.h>
#include <stdlib.h>

struct bb_flow *bb_flow__new(void)
{
	struct bb_flow *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->consumer_cpu_s = NAN;
	f->points = calloc(BB_FLOW_MAX_POINTS, sizeof(*f->points));
	if (f->points)
		return f;
	free(f);
	return NULL;
}

void bb_flow__free(struct bb_flow *f)
{
	if (!f)
		return;
	free(f->points);
	free(f);
}

void bb_flow__add_point(struct bb_flow *f, uint64_t at_us, uint64_t backlog_bytes)
{
	if (f->n_points < BB_FLOW_MAX_POINTS)
		f->points[f->n_points++] = (struct bb_flow_point){at_us, backlog_bytes};
}

void bb_flow__add(struct bb_flow *f, const struct bb_flow *more)
{
	f->consumed += more->consumed;
	f->waiting += more->waiting;
	f->consumer_cpu_s += more->consumer_cpu_s;
}
