/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines by test run: each run made as by step (test_run.h). */
#include <errno.h>

#include "base/deadline.h"
#include "drivers/lines.h"
#include "drivers/test_run.h"

static int attach_run(void *state, struct bb_test_prog *subject, int prog_fd, void **ret_place,
		      struct bb_err *err)
{
	struct bb_test_run_slot *slot;
	int rc = bb_test_run__attach_program(state, subject, prog_fd, &slot, err);

	if (!rc)
		*ret_place = slot;
	return rc;
}

static int run_test(void *state, void *place, struct bb_target *target, uint32_t param,
		    const struct bb_lines_block *block, struct bb_err *err)
{
	const struct bb_test_run *t = state;
	struct bb_test_call call;
	union bpf_attr attr;
	int rc = bb_test_run__aim(t, place, param, &call, err);

	if (rc)
		return rc;
	while (!rc) {
		rc = bb_target__reset_for_run(target);
		if (!rc && t->cold)
			bb_cold__empty(t->cold);
		if (!rc)
			rc = bb_test_call__fire(&call, &attr);
		if (rc == -EINTR && !bb_must_end())
			rc = 0; /* its run was no whole one, which its counters show */
		if (!rc)
			rc = block->after(block->arg);
	}
	if (rc < 0 && rc != -EINTR)
		rc = bb_test_call__say_failed(&call, rc, err);
	bb_test_call__close(&call);
	return rc < 0 && rc != -EINTR ? rc : 0;
}

static const struct bb_lines_trigger by_test_run = {
	.open = bb_test_run__open,
	.close = bb_test_run__close,
	.probe = bb_test_run__probe,
	.attach = attach_run,
	.detach = bb_test_run__detach,
	.run = run_test,
};

static int open_test_run(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
			 void **ret_state, struct bb_err *err)
{
	return bb_lines__open(&by_test_run, spec, opts, ret_state, err);
}

const struct bb_driver bb_driver_lines_test_run = {
	.kind =
		{
			BB_LINES_KIND,
			.by = {"test-run"},
			.title = "lines by test-run",
			.doc = "time every line and call of a run, by a clone of the program that "
			       "can end at each of them, run as by step",
			.keys = bb_test_run_keys,
			.takes_inputs = true,
			.fires = true,
		},
	.open = open_test_run,
	.probe = bb_lines__probe,
	.attach = bb_lines__attach,
	.batch = bb_lines__batch,
	.detach = bb_lines__detach,
	.close = bb_lines__close,
};
