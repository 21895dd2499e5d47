/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_LIBBPF_LOG_H
#define BB_BPF_LIBBPF_LOG_H

#include "base/std.h"

/*
 * libbpf reports errors through one callback for the whole process, without a context. This code
 * keeps its last warnings (the end of the verifier's log among them) per thread instead of letting
 * it print.
 */
void bb_libbpf_log__begin(void);

/* The warnings since __begin: their last part when they are long. Valid until the next __begin. */
const char *bb_libbpf_log__text(void);

/* A field or type of a CO-RE relocation that this kernel does not have. */
struct bb_missing_name {
	char name[120];    /* "struct task_struct.member", "enum x::Y" */
	char function[64]; /* that uses it, in which instruction */
	uint32_t insn;
};

/* The first ones since __begin, borrowed until the next; how many. */
#define BB_MOST_MISSING 4u
size_t bb_libbpf_log__missing(const struct bb_missing_name **ret_missing);

/* The verifier's log of a program that was loaded with one since __begin. false: there is none, or
 * it is longer than `size`. */
bool bb_libbpf_log__of_loaded(const char *program, char *ret_log, size_t size);

/* One line that says why something was not loaded, out of logs that say much besides. */

/*
 * The verifier's: its last line that is neither a statistic nor a state or an instruction that it
 * was at. The end of a log will do. "" where there is none.
 */
void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size);

/* libbpf's: its last warning that is not the general "failed to load object", without its prefix.
 * "" where there is none. */
void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size);

/* A log without libbpf's own lines: the verifier's, each with its end. Cut where it has no room. */
void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size);

#endif
