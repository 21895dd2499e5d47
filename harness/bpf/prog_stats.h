/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/bpf_info.h"
#include "core/metric.h"

/* The kernel's run statistics of one program: sums over all CPUs since the program was loaded. They
 * change only while bpf_stats is on. */
struct bb_prog_stats {
	uint64_t run_time_ns;
	uint64_t run_cnt;
	uint64_t recursion_misses; /* 0 on kernels before 5.12 */
};

/* Returns how far the counters rose between two readings. */
struct bb_prog_stats bb_prog_stats__since(const struct bb_prog_stats *now,
					  const struct bb_prog_stats *before);

/* Reads the statistics in two ways. The reference is a /proc/self/fdinfo file that stays open and
 * is read by pread(). The other way is the system call BPF_OBJ_GET_INFO_BY_FD ("info-by-fd"), which
 * is twice as fast and is used in inner loops. Both must agree at the end of every series. */
struct bb_stats_reader {
	int prog_fd; /* borrowed */
	int fdinfo_fd;
};

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err);
void bb_stats_reader__close(struct bb_stats_reader *r);

/* Read the statistics by info-by-fd or by fdinfo. Return 0, or -errno without a message. */
int bb_stats_reader__info(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);
int bb_stats_reader__fdinfo(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);

/* Reads by fdinfo, between two readings by info-by-fd. Returns 0; -ESTALE with a message if a
 * counter is lower in one reading than in the reading before; or -errno with a message. If the
 * program does not run meanwhile, this check demands that all three readings are equal. */
int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats,
			    struct bb_err *err);

/* Parses the text of fdinfo. -EPROTO if a number is missing. A missing recursion_misses is 0. */
int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats);

/* bpf_stats, switched on until bb_stats_enable__off(). It is enabled by a descriptor
 * (BPF_ENABLE_STATS, Linux 5.8), so the kernel disables it when the process ends, however it ends.
 * Older kernels have only the sysctl, which bb_stats_enable__off() restores. */
struct bb_stats_enable {
	int fd;            /* descriptor that keeps bpf_stats on; -1: the sysctl was set instead */
	char previous[16]; /* the sysctl's old value; empty if we did not change it */
};

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err);
void bb_stats_enable__off(struct bb_stats_enable *e);

#define BB_TAG 17 /* size of a program's tag as text: 16 hexadecimal digits and NUL */
/* Writes the program's tag as text. */
void bb_write_tag(const struct bpf_prog_info *info, char ret_tag[BB_TAG]);

/* The kernel's data about a loaded program, read without running it. */
struct bb_prog_facts {
	/* name of the program type, such as "perf_event" or "xdp"; "type-99" if libbpf does not
	 * know the type */
	char type[32];
	/* SHA of the instructions as loaded, in hex; the same for equal programs */
	char tag[BB_TAG];
	struct bb_prog_static metrics;
};

/* Reads everything except the figures that only the verifier's log has: stack_bytes and verify_ns
 * are NAN. A figure is also NAN if the kernel is too old for it or does not show it to this user.
 * Returns 0 or -errno with a message. */
int bb_prog_static__read(int prog_fd, struct bb_prog_facts *ret_facts, struct bb_err *err);

/* Returns the memory of a map as the kernel reports it, bytes; NAN if unknown. If the map's entries
 * are allocated one by one, the allocator's own overhead is missing. Before Linux 6.4 the figure is
 * an estimate from max_entries. */
double bb_map_bytes(int map_fd);
double bb_map_bytes_by_id(uint32_t id);

/* Writes the ids of the maps that a loaded program uses to ret_ids[BB_MAX_PROG_MAPS]. Returns the
 * number of ids; 0 also if the kernel does not answer. */
uint32_t bb_prog_map_ids(int prog_fd, uint32_t *ret_ids);

/* The log level for the verifier's statistics: BPF_LOG_STATS of include/linux/bpf_verifier.h,
 * Linux 5.2. */
#define BB_LOG_STATS 4

/* most maps of one program: MAX_USED_MAPS of include/linux/bpf_verifier.h */
#define BB_MAX_PROG_MAPS 64
/* most functions of one program: BPF_MAX_SUBPROGS of include/linux/bpf_verifier.h */
#define BB_MAX_FUNCTIONS 256

/* Reads the stack of each function, bytes, from the log's line "stack depth 16+8+0"; the main
 * function is the first. Returns the number of functions; 0 if the line is missing. */
size_t bb_prog_static_stacks(const char *log, uint32_t ret_bytes[BB_MAX_FUNCTIONS]);

/* Reads the statistics in the verifier's log: stack_bytes, verify_ns, total_states, and
 * verified_insns if it is still NAN (before Linux 5.16, only the log has it). A figure that the log
 * lacks does not change. */
void bb_prog_static_parse_log(const char *log, struct bb_prog_static *m);
