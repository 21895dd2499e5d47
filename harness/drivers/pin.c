/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "drivers/driver.h"

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
