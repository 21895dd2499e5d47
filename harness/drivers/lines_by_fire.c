/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines by fire: each of the programs that take turns is put on the hook for its block, fired there
 * by a process of its own (fire.h), and taken off again, so that they never run together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/fire.h"
#include "drivers/lines.h"
#include "fire/later.h"

/* In memory that both processes see. */
struct shared {
	int (*after)(void *arg);
	uint64_t arg[BB_LINES_ARG_BYTES / sizeof(uint64_t)];
};

static int attach_fired(void *state, struct bb_test_prog *subject, int prog_fd, void **ret_place,
			struct bb_err *err)
{
	struct bb_fire_slot *slot = calloc(1, sizeof(*slot));
	int rc = slot ? bb_fire__attach_program(state, subject, prog_fd, slot,
						sizeof(struct shared), slot, err)
		      : bb_fail_nomem(err);

	if (rc)
		free(slot);
	else
		*ret_place = slot;
	return rc;
}

static void detach_fired(void *state, void *place)
{
	bb_fire__detach(state, place);
}

/* In the process that fires. */
static int work(void *arg, struct bb_fire_task *t, void *shared_)
{
	struct bb_fire_slot *slot = arg;
	struct shared *shared = shared_;
	int rc = bb_fire__trigger(slot, t);

	while (!rc) {
		rc = bb_target__reset_for_run(slot->target);
		if (rc)
			break;
		if (slot->state->cold)
			bb_cold__empty(slot->state->cold);
		bb_firing__fire(&slot->firing); /* what it brought is for the counters to say */
		t->beats++;
		rc = shared->after(shared->arg);
	}
	return rc == 1 ? 0 : rc;
}

static int run_fired(void *state, void *place, struct bb_target *target, uint32_t param,
		     const struct bb_lines_block *block, struct bb_err *err)
{
	struct bb_fire_slot *slot = place;
	struct shared *shared = slot->firer.shared;
	int rc;

	(void)state;
	(void)target;
	(void)param;
	shared->after = block->after;
	memcpy(shared->arg, block->arg, block->arg_bytes);
	rc = bb_fire__do(slot, work, err);
	memcpy(block->arg, shared->arg, block->arg_bytes);
	return rc == -EINTR || rc == -ETIME ? 0 : rc;
}

static int batch(void *state, void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	int rc = bb_lines__batch(state, slot, param, b, err);

	if (rc == -ESRCH) {
		snprintf(b->void_why, sizeof(b->void_why), "%.190s", err->msg);
		rc = 0;
	}
	return rc;
}

static uint32_t runs_each(const void *place)
{
	return ((const struct bb_fire_slot *)place)->found->runs_each;
}

/* The program and its clone are fired by a process each. */
static int probe_fired(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	if (subject->self_pid)
		return bb_fail(err, -ENOTSUP,
			       "two processes fire in turn here, and {pid: self} is one of them");
	return bb_fire__probe(state, subject, err);
}

static const struct bb_lines_trigger by_fire = {
	.open = bb_fire__open,
	.close = bb_fire__close,
	.probe = probe_fired,
	.attach = attach_fired,
	.detach = detach_fired,
	.run = run_fired,
	.runs_each = runs_each,
};

static int open_fire(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     void **ret_state, struct bb_err *err)
{
	return bb_lines__open(&by_fire, spec, opts, ret_state, err);
}

const struct bb_driver bb_driver_lines_fire = {
	.kind =
		{
			BB_LINES_KIND,
			.by = {"fire"},
			.title = "lines by fire",
			.doc = "time every line and call of a run, by a clone of the program that "
			       "can end at each of them, fired where it is attached as by step",
			.keys = bb_fire_keys,
			.shares_events = true,
		},
	.open = open_fire,
	.probe = bb_lines__probe,
	.attach = bb_lines__attach,
	.batch = batch,
	.fired_by = bb_fire__words,
	.detach = bb_lines__detach,
	.close = bb_lines__close,
};
