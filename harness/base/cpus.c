/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cpus.h"

int bb_usable_cpus(const int **ret_cpus)
{
	static int cpus[CPU_SETSIZE], n;
	cpu_set_t allowed;

	if (!n && sched_getaffinity(0, sizeof(allowed), &allowed)) {
		/* The machine has more CPUs than a cpu_set_t. Take the first CPU_SETSIZE. */
		CPU_ZERO(&allowed);
		for (long i = 0; i < sysconf(_SC_NPROCESSORS_ONLN) && i < CPU_SETSIZE; i++)
			CPU_SET((size_t)i, &allowed);
	}
	for (int cpu = 0, first = !n; first && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, &allowed))
			cpus[n++] = cpu;
	if (ret_cpus)
		*ret_cpus = cpus;
	return n;
}
