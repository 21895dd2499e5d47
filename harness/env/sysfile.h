/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_ENV_SYSFILE_H
#define BB_ENV_SYSFILE_H

#include "base/err.h"
#include "base/std.h"

/*
 * Small text files below /proc and /sys. `root` is put before every path: "" is the real machine, a
 * directory with the same layout is a test's.
 */

/* "root" + "path" into `ret_path`. 0 or -ENAMETOOLONG. */
int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size);

/* The file below root, to read. 0 or -errno with a message. */
int bb_sysfile__open(const char *root, const char *path, FILE **ret_file, struct bb_err *err);

/*
 * The whole file without the white space at its end, cut to size - 1 bytes when longer (size >= 1).
 * 0 or -errno; ret_text is meaningful only on success.
 */
int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size);

/* A file that holds one number. 0, or -errno (-EINVAL when it holds something else). */
int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value);

/* How many CPUs a list like "0-3,5" names; an empty list names none. 0, or -EINVAL when it is no
 * such list. */
int bb_cpulist_count(const char *list, uint32_t *ret_n);

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
