/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* These functions read small text files below /proc and /sys. They put `root` before every path.
 * `root` is "" except in tests, which use a folder with the same layout. */

/* Joins `root` and `path` in ret_path[size]. Returns 0 or -ENAMETOOLONG. */
int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size);

/* Opens the file `path` below `root` for reading. Returns 0, or -errno with a message. */
int bb_sysfile__open(const char *root, const char *path, FILE **ret_file, struct bb_err *err);

/* Reads the first size - 1 bytes of a file into ret_text[size], and cuts white space off their end.
 * Returns 0, or -errno; ret_text is then undefined. */
int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size);

/* Reads a file that holds one number. Returns 0, -EINVAL for other contents, or -errno. */
int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value);

/* Counts the CPUs in a list such as "0-3,5" or "". Returns 0, or -EINVAL for another form. */
int bb_cpulist_count(const char *list, uint32_t *ret_n);

/*
 * How one CPU or all CPUs spent their time since boot, in units of /proc/stat (1/USER_HZ s, nearly
 * always 10 ms). Steal is the time in which a virtual CPU was ready to run but the hypervisor ran
 * something else. The kernel updates these times once per timer tick, so a share computed over less
 * than 100 ms means little.
 */
struct bb_cpu_times {
	/* sum of all columns except guest time, because user and nice time include it */
	uint64_t total;
	uint64_t idle; /* time without a task to run: idle, and waiting for I/O */
	uint64_t steal;
};

/*
 * Reads the line of one CPU, or of all CPUs together (cpu = -1), from root/proc/stat. Returns 0;
 * -ENOENT if there is no such line, because the CPU is offline; -EINVAL if the line has another
 * form; or -errno.
 */
int bb_cpu_times__read(const char *root, int cpu, struct bb_cpu_times *ret_times,
		       struct bb_err *err);

/*
 * Returns the share of the time between two readings that was steal, 0 to 1, like `st` in top(1).
 * Idle CPUs make the share smaller, so read the line of the CPU that measures. Returns NAN if no
 * time passed, or if the counters went backwards, as they may when a VM is migrated.
 */
double bb_steal_share(const struct bb_cpu_times *before, const struct bb_cpu_times *after);

/* Reads from root/proc/interrupts how often, since boot, the CPU has interrupted itself to run
 * queued callbacks (kernel/irq_work.c). A BPF program that wakes the reader of its ring queues such
 * a callback. Returns 0, -ENOENT if the file has no such line or the CPU has no column, or
 * -errno. */
int bb_irq_works__read(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err);
