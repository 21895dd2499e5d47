/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/bpf_info.h"
#include "core/metric.h"

/* The kernel's run statistics of one program, over all CPUs. They change only while bpf_stats is
 * on. */
struct bb_prog_stats {
	uint64_t run_time_ns;
	uint64_t run_cnt;
	uint64_t recursion_misses; /* 0 on kernels before 5.12 */
};

struct bb_prog_stats bb_prog_stats__since(const struct bb_prog_stats *now,
					  const struct bb_prog_stats *before);

/* Reads the statistics in two ways. One is a /proc/self/fdinfo file that stays open and is read by
 * pread(). The other is the system call BPF_OBJ_GET_INFO_BY_FD ("info-by-fd"), which is twice as
 * fast and is used in inner loops. The results of both ways must agree at the end of every
 * series. */
struct bb_stats_reader {
	int prog_fd; /* borrowed */
	int fdinfo_fd;
};

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err);
void bb_stats_reader__close(struct bb_stats_reader *r);

/* Return 0, or -errno without a message. */
int bb_stats_reader__info(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);
int bb_stats_reader__fdinfo(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);

/* Reads by fdinfo, between two readings by info-by-fd. Fails with -ESTALE if a counter falls from
 * one reading to the next. If the program does not run meanwhile, all three must be equal. */
int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats,
			    struct bb_err *err);

/* Parses the text of fdinfo. Fails with -EPROTO if a number is missing, except recursion_misses. */
int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats);

/* Keeps bpf_stats switched on. A descriptor of BPF_ENABLE_STATS (Linux 5.8) enables it, so the
 * kernel disables it when the process ends. Older kernels have only the sysctl, which
 * bb_stats_enable__off() restores. */
struct bb_stats_enable {
	int fd;            /* descriptor that keeps bpf_stats on; -1 if the sysctl was set
			    * instead */
	char previous[16]; /* the sysctl's old value; empty if we did not change it */
};

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err);
void bb_stats_enable__off(struct bb_stats_enable *e);

#define BB_TAG 17 /* a program's tag as text: 16 hexadecimal digits and NUL */
void bb_write_tag(const struct bpf_prog_info *info, char ret_tag[BB_TAG]);

struct bb_prog_facts {
	/* such as "xdp"; "type-99" if libbpf does not know the type */
	char type[32];
	/* SHA of the instructions, in hex; equal programs have equal tags */
	char tag[BB_TAG];
	struct bb_prog_static metrics;
};

/* Reads everything except stack_bytes and verify_ns, which only the verifier's log has. A figure is
 * NAN if the kernel is too old for it or does not show it to this user. */
int bb_prog_static__read(int prog_fd, struct bb_prog_facts *ret_facts, struct bb_err *err);

/* Returns the memory of a map as the kernel reports it, bytes, or NAN if unknown. The figure lacks
 * the allocator's overhead for entries that are allocated one by one. Before Linux 6.4 it is an
 * estimate from max_entries. */
double bb_map_bytes(int map_fd);
double bb_map_bytes_by_id(uint32_t id);

/* MAX_USED_MAPS of include/linux/bpf_verifier.h */
#define BB_MAX_PROG_MAPS 64
/* Writes the ids of a program's maps. Returns their number or -errno. */
int bb_prog_map_ids(int prog_fd, uint32_t ret_ids[BB_MAX_PROG_MAPS]);

/* BPF_LOG_STATS of include/linux/bpf_verifier.h, Linux 5.2: log only the verifier's statistics. */
#define BB_LOG_STATS 4

/* BPF_MAX_SUBPROGS of include/linux/bpf_verifier.h */
#define BB_MAX_FUNCTIONS 256

/* Reads the stack of each function in bytes, the main function first, from the log's line "stack
 * depth 16+8+0". Returns the number of functions, or 0 if the line is missing. */
size_t bb_prog_static_stacks(const char *log, uint32_t ret_bytes[BB_MAX_FUNCTIONS]);

/* Reads the figures of the verifier's log: stack_bytes, verify_ns, total_states, and
 * verified_insns, which before Linux 5.16 only the log has. A figure that the log lacks does not
 * change. */
void bb_prog_static_parse_log(const char *log, struct bb_prog_static *m);
