/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PROG_STATS_H
#define BB_BPF_PROG_STATS_H

#include "base/err.h"
#include "base/std.h"
#include "core/metric.h"

struct bpf_prog_info;

/* Asks the kernel about a program. *info is zeroed by the caller, except for arrays that the kernel
 * is to fill and their lengths. 0 or -errno. */
int bb_prog_info__read(int prog_fd, struct bpf_prog_info *info);

/* The kernel's run statistics of one program: cumulative, summed over CPUs, moving only while
 * bpf_stats is on. */
struct bb_prog_stats {
	uint64_t run_time_ns;
	uint64_t run_cnt;
	uint64_t recursion_misses; /* 0 on kernels before 5.12 */
};

/* How far they rose from one reading to a later one. */
struct bb_prog_stats bb_prog_stats__since(const struct bb_prog_stats *now,
					  const struct bb_prog_stats *before);

/*
 * Two ways to read them. fdinfo is the reference: a held-open /proc/self/fdinfo file, read with
 * pread. The info-by-fd call is twice as fast and does the inner loops; both must agree at the end
 * of every series.
 */
struct bb_stats_reader {
	int prog_fd; /* borrowed */
	int fdinfo_fd;
};

int bb_stats_reader__open(int prog_fd, struct bb_stats_reader *ret_reader, struct bb_err *err);
void bb_stats_reader__close(struct bb_stats_reader *r);

/* 0 or -errno. */
int bb_stats_reader__info(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);
int bb_stats_reader__fdinfo(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats);

/*
 * By fdinfo, and both ways must agree: info-by-fd before it says no more and after it no less, so
 * that equal it is where nothing runs. -ESTALE with a message if they do not.
 */
int bb_stats_reader__agreed(const struct bb_stats_reader *r, struct bb_prog_stats *ret_stats,
			    struct bb_err *err);

/* The fdinfo text to numbers; -EPROTO where one is missing, but 0 for recursion_misses. */
int bb_stats_parse_fdinfo(const char *text, struct bb_prog_stats *ret_stats);

/*
 * bpf_stats, switched on until __off. By fd (BPF_ENABLE_STATS, Linux 5.8), which the
 * kernel undoes when the process ends, however it ends. Only where that call is missing, by sysctl,
 * restored by __off.
 */
struct bb_stats_enable {
	int fd;            /* -1: by sysctl */
	char previous[16]; /* the sysctl's old value; empty: it was left alone */
};

int bb_stats_enable__on(struct bb_stats_enable *ret_enable, struct bb_err *err);
void bb_stats_enable__off(struct bb_stats_enable *e);

/* The kernel's facts about a loaded program, without running it. */
struct bb_prog_facts {
	char type[32]; /* "perf_event", "xdp"; "type-99" where libbpf does not know it */
	/* SHA of the instructions as they came, in hex: equal for equal programs */
	char tag[17];
	struct bb_prog_static metrics;
};

/*
 * By the program's descriptor: everything but the figures that only the verifier's log has
 * (stack_bytes and verify_ns are NAN). A figure that the kernel is too old for, or does not show
 * this user, is NAN. 0 or -errno with a message.
 */
int bb_prog_static__read(int prog_fd, struct bb_prog_facts *ret_facts, struct bb_err *err);

/* The log level that gives the verifier's statistics: BPF_LOG_STATS of
 * include/linux/bpf_verifier.h, since Linux 5.2. */
#define BB_LOG_STATS 4

#define BB_MAX_PROG_MAPS 64 /* of one program: MAX_USED_MAPS of the same */
#define BB_MAX_FUNCTIONS                                                                           \
	256 /* of one program: BPF_MAX_SUBPROGS of include/linux/bpf_verifier.h                    \
	     */

/* "stack depth 16+8+0" of the log: bytes of each function, the main one first. How many. */
size_t bb_prog_static_stacks(const char *log, uint32_t ret_bytes[BB_MAX_FUNCTIONS]);

/*
 * Add the statistics of the verifier's log: stack_bytes, verify_ns, and verified_insns where it is
 * still NAN (before Linux 5.16 only the log has it). Figures that the text lacks stay as they are.
 */
void bb_prog_static_parse_log(const char *log, struct bb_prog_static *m);

#endif
