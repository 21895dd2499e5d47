/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines: one block of runs, fired one after the other. */
#include "drivers/lines_state.h"

#include <errno.h>

#include "base/deadline.h"

static void arm(const struct bb_lines_block *block)
{
	if (block->nth == UINT64_MAX || block->is_restoring)
		bb_cut_memory__end_nowhere(&block->state->memory);
	else
		bb_cut_memory__end_at(&block->state->memory, block->nth, block->is_bare);
}

static int begin(const struct bb_attached *a, void *arg, struct bb_batch *b)
{
	struct bb_lines_block *block = arg;

	(void)a;
	(void)b;
	block->is_restoring = block->restores;
	arm(block);
	return bb_stats_reader__info(&block->thing->reader, &block->last);
}

static void take_sample(struct bb_lines_block *block, struct bb_batch *b, uint32_t runs_each,
			const struct bb_prog_stats *window, int64_t ended_at)
{
	if (block->warmed < b->warmup) {
		block->warmed++;
		return;
	}
	b->fired++;
	if (window->run_cnt == runs_each && block->ends_at >= -1 && ended_at != block->ends_at) {
		block->other_paths++;
		b->run_cnt += window->run_cnt;
		b->run_time_ns += window->run_time_ns;
	} else {
		bb_batch__take(b, window->run_cnt, window->run_time_ns, runs_each);
	}
}

static int after(const struct bb_attached *a, void *arg, struct bb_batch *b, bool is_whole)
{
	struct bb_lines_block *block = arg;
	struct bb_prog_stats now, window;
	int rc = bb_stats_reader__info(&block->thing->reader, &now);
	int64_t ended_at;

	(void)is_whole; /* which its counters show */
	if (rc)
		return rc;
	ended_at = bb_cut_memory__ended_at(&block->state->memory);
	bb_target__drain(a->target, !b->drain_each_run);
	window = bb_prog_stats__since(&now, &block->last);
	block->last = now;
	if (block->is_restoring) {
		block->is_restoring = false;
	} else {
		take_sample(block, b, a->runs_each, &window, ended_at);
		block->is_restoring = block->restores;
	}
	arm(block);
	return b->fired >= b->want || bb_must_end();
}

int bb_lines_block__fire(const struct bb_lines_state *s, const struct bb_lines_block *block,
			 uint32_t param, struct bb_err *err)
{
	const struct bb_instrument_part part = {begin, after, s->block, .reads_counters = true};
	int rc;

	*s->block = *block;
	s->block->state = s;
	s->block->batch.ns = s->block->ns;
	rc = s->fired->trigger->fire(block->thing->attached, param, &part, &s->block->batch, err);
	bb_cut_memory__end_nowhere(&s->memory);
	return rc == -EINTR || rc == -ETIME ? 0 : rc;
}
