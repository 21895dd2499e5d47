/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines by page fault: each run fired as by step (page_fault.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drivers/lines.h"
#include "drivers/page_fault.h"

static int attach_fault(void *state, struct bb_test_prog *subject, int prog_fd, void **ret_place,
			struct bb_err *err)
{
	int *fd = malloc(sizeof(*fd)), rc;

	(void)state;
	(void)subject;
	if (!fd)
		return bb_fail_nomem(err);
	rc = bb_page_fault__attach(prog_fd, fd, err);
	if (rc)
		free(fd);
	else
		*ret_place = fd;
	return rc;
}

static void detach_fault(void *state, void *place)
{
	(void)state;
	close(*(int *)place);
	free(place);
}

static int run_fault(void *state, void *place, struct bb_target *target, uint32_t param,
		     const struct bb_lines_block *block, struct bb_err *err)
{
	int rc = bb_page_fault__aim(state, param, err);

	if (rc)
		return rc;
	rc = bb_page_fault__run(state, target, *(int *)place, block->after, block->arg);
	return rc ? bb_fail(err, rc, "stepping '%s': %s", bb_target__program(target), strerror(-rc))
		  : 0;
}

static const struct bb_lines_trigger by_fault = {
	.open = bb_page_fault__open,
	.close = bb_page_fault__close,
	.attach = attach_fault,
	.detach = detach_fault,
	.run = run_fault,
};

static int open_fault(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		      void **ret_state, struct bb_err *err)
{
	return bb_lines__open(&by_fault, spec, opts, ret_state, err);
}

const struct bb_driver bb_driver_lines_page_fault = {
	.kind =
		{
			BB_LINES_KIND,
			.by = {"page-fault"},
			.title = "lines by page-fault",
			.doc = "time every line and call of a run, by a clone of the program that "
			       "can end at each of them, fired as by step",
			.keys = bb_page_fault_keys,
			.param = "stack_depth",
			.param_default = 8,
			.fires = true,
		},
	.open = open_fault,
	.probe = bb_lines__probe,
	.attach = bb_lines__attach,
	.batch = bb_lines__batch,
	.detach = bb_lines__detach,
	.close = bb_lines__close,
};
