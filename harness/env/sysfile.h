/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* These functions read small text files in /proc and /sys. They put `root` before every path.
 * `root` is "" except in tests. */

/* Writes `root` followed by `path` to ret_path[size]. Returns 0 or -ENAMETOOLONG. */
int bb_sysfile__path(const char *root, const char *path, char *ret_path, size_t size);

/* Opens the file `path` below `root` for reading. Returns 0 or -errno. */
int bb_sysfile__open(const char *root, const char *path, FILE **ret_file, struct bb_err *err);

/* Reads at most size - 1 bytes of a file, and removes white space from their end. Returns 0 or
 * -errno. */
int bb_sysfile__read(const char *root, const char *path, char *ret_text, size_t size);

/* Reads a file that holds one number. Returns 0, -EINVAL if the file holds something else, or
 * another -errno. */
int bb_sysfile__read_u64(const char *root, const char *path, uint64_t *ret_value);

/* Counts the CPUs in a list such as "0-3,5" or "". Returns 0, or -EINVAL if the text is no such
 * list. */
int bb_cpulist_count(const char *list, uint32_t *ret_n);

/* How one CPU or all CPUs together spent their time since boot. The unit is that of /proc/stat:
 * 1/USER_HZ s, nearly always 10 ms. The kernel updates these times once per timer tick, so two
 * readings should be at least 100 ms apart. */
struct bb_cpu_times {
	/* sum of all columns except guest time, which user and nice time already include */
	uint64_t total;
	uint64_t idle;  /* time without a task, also while tasks wait for I/O */
	uint64_t steal; /* time in which a task was ready, but the hypervisor ran something else */
};

/* Reads the times of one CPU, or of all CPUs together (cpu = -1), from root/proc/stat. Returns 0,
 * -ENOENT if the CPU is offline, -EINVAL if its line has another form than in proc(5), or another
 * -errno. */
int bb_cpu_times__read(const char *root, int cpu, struct bb_cpu_times *ret_times,
		       struct bb_err *err);

/* Returns which share of the time between two readings was steal, 0 to 1, like `st` in top(1). Idle
 * CPUs make the share smaller, so read only the CPU on which bpfbench measures. Returns NAN if no
 * time passed, or if the counters went backwards, as they may when a VM is migrated. */
double bb_steal_share(const struct bb_cpu_times *before, const struct bb_cpu_times *after);

/* Reads from root/proc/interrupts how many IRQ work interrupts (kernel/irq_work.c) a CPU has had
 * since boot. A BPF program wakes the reader of its ring buffer by such an interrupt to its own
 * CPU. Returns 0, -ENOENT if the file has no line for these interrupts or no column for the CPU, or
 * another -errno. */
int bb_irq_works__read(const char *root, int cpu, uint64_t *ret_count, struct bb_err *err);
