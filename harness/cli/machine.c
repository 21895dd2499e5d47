/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/machine.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>

int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err)
{
	int first = -1, last = -1, poll = -1;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return bb_fail(err, -errno, "cannot tell which CPUs may be used: %s",
			       strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &allowed))
			continue;
		first = first < 0 ? cpu : first;
		last = cpu;
	}
	if (wanted >= 0 && !CPU_ISSET((size_t)wanted, &allowed))
		return bb_fail(err, -EINVAL,
			       "--cpu %d: there is no such CPU, or it is not allowed here "
			       "(allowed: %d to %d)",
			       wanted, first, last);
	if (wanted < 0)
		wanted = last;
	for (int cpu = 0; poll < 0 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed) && cpu != wanted)
			poll = cpu;
	*ret_cpu = wanted;
	*ret_poll_cpu = poll < 0 ? wanted : poll;
	return 0;
}

void bb_run_ahead_of_others(void)
{
	struct sched_param param = {.sched_priority = 1};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		setpriority(PRIO_PROCESS, 0, -20);
}
