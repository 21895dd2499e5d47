/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Collects libbpf's messages, which libbpf passes to one callback of the process. Each thread keeps
 * the end of its own warnings, which include the verifier's log. Nothing is printed. */

/* Forgets this thread's messages, and collects new ones from now on. */
void bb_libbpf_log__begin(void);

/* Returns this thread's warnings, or their end if they are long. Valid until the next
 * bb_libbpf_log__begin(). */
const char *bb_libbpf_log__text(void);

/* A field, type or enum value that a CO-RE relocation needs and this kernel lacks. */
struct bb_missing_name {
	char name[120]; /* such as "struct task_struct.member" or "enum x::Y" */
	char function[64];
	uint32_t insn;
};

/* Returns the number of missing names. The array is valid until the next bb_libbpf_log__begin(). */
#define BB_MOST_MISSING 4u
size_t bb_libbpf_log__missing(const struct bb_missing_name **ret_missing);

/* Copies the verifier's log of a loaded program, whose log level must be above 0. Returns false if
 * there is no log, or if it does not fit. */
bool bb_libbpf_log__of_loaded(const char *program, char *ret_log, size_t size);

/* The functions below find in a log why a load failed. They write "" if no line gives a reason. */

/* Takes the verifier's last line that is not an instruction, a state, a statistic or a source line,
 * and appends the last source line. `log` may be only the end of the log. */
void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size);

/* Takes libbpf's last warning, without its prefix. Ignores general ones such as "failed to load
 * object". */
void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size);

/* Copies the verifier's lines of a log, without libbpf's, as far as they fit. */
void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size);
