/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PROG_STATIC_H
#define BB_BPF_PROG_STATIC_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/metric.h"

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

/* "stack depth 16+8+0" of the log: bytes of each function, the main one first. How many; 0: it does
 * not say. */
size_t bb_prog_static_stacks(const char *log, uint32_t ret_bytes[BB_MAX_FUNCTIONS]);

/*
 * Add the statistics of the verifier's log: stack_bytes, verify_ns, and verified_insns where it is
 * still NAN (before Linux 5.16 only the log has it). Figures that the text lacks stay as they are.
 */
void bb_prog_static_parse_log(const char *log, struct bb_prog_static *m);

#endif
