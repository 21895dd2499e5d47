/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "base/std.h"

struct btf;

/* A program as it was passed to BPF_PROG_LOAD: relocated, with its subprograms appended. Positions
 * are indices of 8-byte slots. The struct owns its arrays. It does not own `btf` and the
 * descriptors in the instructions: they belong to the program's struct bb_source, and are valid
 * until the source loads the program again. */
struct bb_code {
	char name[16]; /* BPF_OBJ_NAME_LEN */
	char license[128];
	uint32_t type; /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type, flags, kern_version;
	/* BTF id of the function or type that the program attaches to, and id of the BTF object
	 * that contains it; attach_btf_id 0: there is no attach target; attach_btf_obj_id 0: the
	 * BTF object of vmlinux */
	uint32_t attach_btf_id, attach_btf_obj_id;
	struct bpf_insn *insns;
	uint32_t n;
	/* one record for each function, sorted by insn_off; NULL if the object has no .BTF.ext */
	struct bpf_func_info *funcs;
	uint32_t n_funcs;
	struct bpf_line_info *lines; /* sorted by insn_off */
	uint32_t n_lines;
	const struct btf *btf; /* NULL if the object has no BTF */
	int btf_fd;            /* -1 if the BTF is not in the kernel */
};

void bb_code__done(struct bb_code *c);

/* Returns -ENOTSUP with the reason if a clone of the program (a copy with counters) cannot be
 * loaded; otherwise 0. */
int bb_code__check(const struct bb_code *c, struct bb_err *err);

/* True if the program calls one of the n helpers, each a BPF_FUNC_*. */
bool bb_code__calls(const struct bb_code *c, const int32_t *helpers, size_t n);

/* True if the program calls kfuncs (functions of the kernel). */
bool bb_code__calls_kfuncs(const struct bb_code *c);

/* Returns the string at `offset` of the code's BTF; "" if there is none. */
const char *bb_code__text(const struct bb_code *code, uint32_t offset);

/* Returns the name of the type with the BTF id `id`; NULL if it has no name, or if `btf` is NULL.
 */
const char *bb_btf_name(const struct btf *btf, uint32_t id);

/* Returns the file, line and source text of a record of line information, such as "prog.c:12 return
 * 0;". `btf` is the program's BTF. The caller must free() the text. */
char *bb_line_source(const struct btf *btf, const struct bpf_line_info *line);

/* Returns the line information of the instruction at `slot`; NULL if it has none. */
const struct bpf_line_info *bb_code__line_at(const struct bb_code *code, uint32_t slot);
#define BB_SOURCE_LINE(line_col) ((line_col) >> 10) /* BPF_LINE_INFO_LINE_NUM */

/*
 * Fills the functions, lines and licence of `code` from the object file elf[len]. `code` must have
 * its instructions and BTF already. In the file, the program is the function `program` of the
 * section `section`. Before version 1.6, libbpf does not return the tables of functions and lines
 * that it gave to the kernel, so this function computes them again. To find out which function of
 * the file stands at which slot of the final program, it follows the calls in the file and in the
 * final program at the same time. If the object has no .BTF.ext, functions and lines stay empty.
 */
int bb_btf_ext__read(const char *elf, size_t len, const char *program, const char *section,
		     struct bb_code *code, struct bb_err *err);

/* Writes the source line of the instruction at slot `insn` of `function`, such as "file.c:12"; ""
 * if the line is unknown. elf[len] is the object file, and `btf` its BTF. */
void bb_btf_ext__source_line(const char *elf, size_t len, const struct btf *btf,
			     const char *function, uint32_t insn, char *ret_line, size_t size);
