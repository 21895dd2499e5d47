/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_PROC_COUNTS_H
#define BB_ENV_PROC_COUNTS_H

#include <stdint.h>

#include "base/err.h"

/*
 * How the CPUs have spent their time since boot, from /proc/stat, in its ticks (1/USER_HZ s, 10 ms
 * nearly everywhere). Steal is the time that a virtual CPU wanted to run and the hypervisor gave to
 * other machines. The kernel updates these at its ticks only, so shares over much less than 100 ms
 * mean little.
 */
struct bb_cpu_times {
	uint64_t total; /* all columns but guest time, which user time includes (proc(5)) */
	uint64_t idle;  /* idle and waiting for I/O */
	uint64_t steal;
};

/*
 * Read the line of one CPU, or of all together (cpu = -1), from root/proc/stat ("": the machine's).
 * 0; -ENOENT when there is no such line (the CPU is offline); -EINVAL when the line is not as
 * documented; other -errno.
 */
int bb_cpu_times__read(const char *root, int cpu, struct bb_cpu_times *ret_times,
		       struct bb_err *err);

/*
 * Share (0..1) of the time between two readings that was stolen, of all time like `st` in top(1).
 * Idle CPUs dilute it: read the line of the CPU that measures. NAN when no time passed or the
 * counters went backwards (a live migration).
 */
double bb_steal_share(const struct bb_cpu_times *before, const struct bb_cpu_times *after);

/*
 * How many interrupts the CPU has sent to itself for work that an interrupt may not do at once
 * (kernel/irq_work.c), since boot: how a BPF program wakes the reader of its ring. From
 * root/proc/interrupts; -ENOENT where it has no such line.
 */
int bb_irq_works__read(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err);

#endif
