/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/ring_use.h"

#include <math.h>
#include <stdlib.h>

struct bb_ring_use *bb_ring_use__new(void)
{
	struct bb_ring_use *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->consumer_cpu_s = NAN;
	f->points = calloc(BB_FLOW_MAX_POINTS, sizeof(*f->points));
	if (f->points)
		return f;
	free(f);
	return NULL;
}

void bb_ring_use__free(struct bb_ring_use *f)
{
	if (!f)
		return;
	free(f->points);
	free(f);
}

void bb_ring_use__add_point(struct bb_ring_use *f, uint64_t at_us, uint64_t backlog_bytes)
{
	if (f->n_points < BB_FLOW_MAX_POINTS)
		f->points[f->n_points++] = (struct bb_flow_point){at_us, backlog_bytes};
}

void bb_ring_use__add(struct bb_ring_use *f, const struct bb_ring_use *more)
{
	f->consumed += more->consumed;
	f->waiting += more->waiting;
	f->consumer_cpu_s += more->consumer_cpu_s;
}
