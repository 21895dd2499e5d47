/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Collects libbpf's messages, which libbpf passes to one callback of the process. Each thread keeps
 * the end of its own warnings, among them the end of the verifier's log. No message is printed. */

/* Forgets this thread's messages, and collects new ones from now on. */
void bb_libbpf_log__begin(void);

/* Returns the warnings of this thread since bb_libbpf_log__begin(). If they are long, only their
 * end is kept. Valid until the next bb_libbpf_log__begin(). */
const char *bb_libbpf_log__text(void);

/* A field, type or enum value that a CO-RE relocation needs and this kernel lacks. */
struct bb_missing_name {
	char name[120]; /* such as "struct task_struct.member" or "enum x::Y" */
	/* function that uses the name, and the index of the instruction in that function */
	char function[64];
	uint32_t insn;
};

/* Returns the number of missing names since bb_libbpf_log__begin(), at most BB_MOST_MISSING. The
 * array is borrowed until the next bb_libbpf_log__begin(). */
#define BB_MOST_MISSING 4u
size_t bb_libbpf_log__missing(const struct bb_missing_name **ret_missing);

/* Copies the verifier's log of `program`, which must have been loaded after bb_libbpf_log__begin(),
 * with a log level above 0. Returns false if there is no log, or if it does not fit into
 * ret_log[size]. */
bool bb_libbpf_log__of_loaded(const char *program, char *ret_log, size_t size);

/* The functions below extract from a long log what says why a load failed. */

/* Writes the last line of a verifier's log that gives a reason: a line that is no statistic, state,
 * instruction or source line. Appends the last source line of the log to it. `log` may be only the
 * end of the log. Writes "" if no line gives a reason. */
void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size);

/* Writes libbpf's last warning that gives a reason, without its prefix. Ignores general warnings
 * such as "failed to load object". Writes "" if no warning gives a reason. */
void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size);

/* Copies the verifier's lines of a log, without those of libbpf, as far as they fit. */
void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size);
