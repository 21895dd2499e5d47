/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/driver.h"

#include <sched.h>

int bb_driver__attach_nothing(void *state, struct bb_test_prog *prog, void **ret_slot,
			      struct bb_err *err)
{
	(void)state;
	(void)err;
	*ret_slot = prog;
	return 0;
}

void bb_driver__detach_nothing(void *state, void *slot)
{
	(void)state;
	(void)slot;
}

int bb_pin_to_cpu(int cpu, struct bb_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return bb_fail(err, -errno, "cannot run on CPU %d: %s; choose another with --cpu",
			       cpu, strerror(errno));
	return 0;
}
