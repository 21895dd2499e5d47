/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Collects libbpf's messages. libbpf reports errors through one callback for the whole process,
 * without a context. This code keeps the last warnings of each thread, among them the end of the
 * verifier's log, and prints none of them. */
void bb_libbpf_log__begin(void);

/* Returns the warnings of this thread since bb_libbpf_log__begin(). If they are long, only their
 * end is kept. Valid until the next bb_libbpf_log__begin(). */
const char *bb_libbpf_log__text(void);

/* A field or type that a CO-RE relocation refers to and this kernel lacks. */
struct bb_missing_name {
	char name[120]; /* such as "struct task_struct.member" or "enum x::Y" */
	/* function that uses the name, and the instruction there */
	char function[64];
	uint32_t insn;
};

/* Returns the number of missing names since bb_libbpf_log__begin(), at most BB_MOST_MISSING. The
 * array is borrowed until the next bb_libbpf_log__begin(). */
#define BB_MOST_MISSING 4u
size_t bb_libbpf_log__missing(const struct bb_missing_name **ret_missing);

/* Copies the verifier's log of a program that was loaded with a log since
 * bb_libbpf_log__begin(). Returns false if there is none or it is longer than `size`. */
bool bb_libbpf_log__of_loaded(const char *program, char *ret_log, size_t size);

/* Extract from a long log the one line that says why a load failed. */

/* Writes the last line of a verifier's log that gives a reason. This is a line that is not a
 * statistic, a state, an instruction or a source line. The end of a log suffices. "" if there is no
 * such line. */
void bb_refusal_of_verifier(const char *log, char *ret_reason, size_t size);

/* Writes libbpf's last warning that gives a reason, without its prefix. Ignores general warnings
 * such as "failed to load object". "" if there is none. */
void bb_refusal_of_libbpf(const char *log, char *ret_reason, size_t size);

/* Copies the verifier's lines of a log, without those of libbpf. The end is omitted if `size` is
 * too small. */
void bb_refusal_log_of_verifier(const char *log, char *ret_log, size_t size);
