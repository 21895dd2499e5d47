/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_CODE_H
#define BB_BPF_CODE_H

#include <linux/bpf.h>

#include "base/err.h"
#include "base/std.h"

struct btf;

/*
 * A program as BPF_PROG_LOAD was given it: relocated, subprograms appended. Slots are counted in 8
 * bytes. Owns its arrays; the descriptors in the instructions and `btf` are the source's, and
 * good for as long as its load is.
 */
struct bb_code {
	char name[16]; /* BPF_OBJ_NAME_LEN */
	char license[128];
	uint32_t type; /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type, flags, kern_version;
	uint32_t attach_btf_id, attach_btf_obj_id; /* 0: none */
	struct bpf_insn *insns;
	uint32_t n;
	struct bpf_func_info *funcs; /* by insn_off; one for each function, or none at all */
	uint32_t n_funcs;
	struct bpf_line_info *lines; /* by insn_off */
	uint32_t n_lines;
	const struct btf *btf; /* NULL: the object has none */
	int btf_fd;            /* -1: not in the kernel */
};

void bb_code__done(struct bb_code *c);

/* -ENOTSUP, with the reason: it cannot be loaded a second time with counters in it. */
int bb_code__check(const struct bb_code *c, struct bb_err *err);

/* Does it call functions of the kernel? */
bool bb_code__calls_kfuncs(const struct bb_code *c);

/* A text of the code's BTF; "" when it has none there. */
const char *bb_code__text(const struct bb_code *code, uint32_t offset);

/* The line information of the instruction at that slot; NULL: it has none. */
const struct bpf_line_info *bb_code__line_at(const struct bb_code *code, uint32_t slot);
#define BB_SOURCE_LINE(line_col) ((line_col) >> 10) /* BPF_LINE_INFO_LINE_NUM */

/*
 * Fill `code`'s functions, lines and licence from the object file elf[len]. libbpf does not hand
 * out those that it gave to the kernel (before 1.6), so they are computed anew: the calls of the
 * final program and of the sections in the file are walked in step, which says where each function
 * came from. `code` has its instructions and btf already; `program` and `section` are its names in
 * the file. An object without .BTF.ext leaves functions and lines empty.
 */
int bb_btf_ext__read(const char *elf, size_t len, const char *program, const char *section,
		     struct bb_code *code, struct bb_err *err);

/* Where instruction `insn` of `function` is in its source, "file.c:12"; "": that is not known. */
struct btf;
void bb_btf_ext__source_line(const char *elf, size_t len, const struct btf *btf,
			     const char *function, uint32_t insn, char *ret_line, size_t size);

#endif
