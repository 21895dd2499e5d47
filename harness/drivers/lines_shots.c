/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines: one block of runs, fired one after the other. */
#include "drivers/lines_state.h"

#include <errno.h>
#include <string.h>

#include "base/deadline.h"

_Static_assert(sizeof(struct bb_lines_shots) <= BB_LINES_ARG_BYTES, "a process that fires has a "
								    "copy");

static void arm(struct bb_lines_shots *b)
{
	if (b->nth == UINT64_MAX || b->is_restoring)
		bb_cut_memory__end_nowhere(&b->state->memory);
	else
		bb_cut_memory__end_at(&b->state->memory, b->nth, b->is_bare);
}

static void take_sample(struct bb_lines_shots *b, const struct bb_prog_stats *now)
{
	uint64_t runs = now->run_cnt - b->last.run_cnt, ns = now->run_time_ns - b->last.run_time_ns;

	if (b->warmup) {
		b->warmup--;
		b->warmed++;
		return;
	}
	b->fired++;
	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs != b->runs_each)
		b->multi += runs;
	else if (b->ends_at >= -1 && b->ended_at != b->ends_at)
		b->other_ways++;
	else
		b->ns[b->n++] = (ns + runs / 2) / runs;
}

static int after_run(void *arg)
{
	struct bb_lines_shots *b = arg;
	struct bb_prog_stats now;
	int rc = bb_stats_reader__info(&b->thing->reader, &now);

	if (rc)
		return rc;
	b->ended_at = bb_cut_memory__ended_at(&b->state->memory);
	bb_target__drain(b->slot->target, !b->drain_each_run);
	if (b->is_restoring) {
		b->is_restoring = false;
	} else {
		take_sample(b, &now);
		b->is_restoring = b->restores;
	}
	b->last = now;
	arm(b);
	return b->fired >= b->want || bb_must_end();
}

int bb_lines_shots__fire(struct bb_lines_shots *b, uint32_t param, struct bb_err *err)
{
	int rc = bb_stats_reader__info(&b->thing->reader, &b->last);

	if (rc)
		return bb_fail(err, rc, "reading the counters of a clone of '%s': %s",
			       bb_target__program(b->slot->target), strerror(-rc));
	b->is_restoring = b->restores;
	b->runs_each = b->state->trigger->runs_each ? b->state->trigger->runs_each(b->thing->place)
						    : 1;
	arm(b);
	rc = b->state->trigger->run(b->state->fired, b->thing->place, b->slot->target, param,
				    &(struct bb_lines_block){after_run, b, sizeof(*b)}, err);
	bb_cut_memory__end_nowhere(&b->state->memory);
	return rc;
}
