/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "base/std.h"

struct btf;

/* A program as it was passed to BPF_PROG_LOAD: relocated, with its subprograms appended. Positions
 * count 8-byte instruction slots. The struct owns its arrays. `btf` and the descriptors are
 * borrowed: from the program's target until its next load, or from the copy of a command's load. */
struct bb_code {
	char name[16];
	char license[128];
	uint32_t type; /* BPF_PROG_TYPE_* */
	uint32_t expected_attach_type, flags, kern_version;
	/* attach_btf_id is the function or type that the program attaches to; 0 if there is none.
	 * attach_btf_obj_id is the BTF object that contains it; 0 for vmlinux. */
	uint32_t attach_btf_id, attach_btf_obj_id;
	/* the program, or a module's BTF, that it attaches to (a union in the kernel); 0 for none
	 */
	uint32_t attach_prog_fd;
	/* the descriptors that instructions name by index; borrowed; NULL if there are none */
	const int *fd_array;
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

/* Returns -ENOTSUP with the reason if the kernel would not load a changed copy of the program. */
int bb_code__check(const struct bb_code *c, struct bb_err *err);

/* True if the program calls one of the n helpers (BPF_FUNC_*). */
bool bb_code__calls(const struct bb_code *c, const int32_t *helpers, size_t n);

bool bb_code__calls_kfuncs(const struct bb_code *c);

const char *bb_code__text(const struct bb_code *code, uint32_t offset);

/* Returns NULL if the type `id` has no name, or if `btf` is NULL. */
const char *bb_btf_name(const struct btf *btf, uint32_t id);

/* Returns a text such as "prog.c:12 return 0;" for a record of the program's line information. The
 * caller must free() it. */
char *bb_line_source(const struct btf *btf, const struct bpf_line_info *line);

/* Returns NULL if the instruction at `slot` has no line information. */
const struct bpf_line_info *bb_code__line_at(const struct bb_code *code, uint32_t slot);
#define BB_SOURCE_LINE(line_col) ((line_col) >> 10) /* as BPF_LINE_INFO_LINE_NUM of linux/bpf.h */

/*
 * Fills the functions, lines and licence of `code` from the object file elf[len]. `code` must have
 * its instructions and BTF already. In the file, the program is the function `program` of
 * `section`. If the object has no .BTF.ext, functions and lines stay empty.
 *
 * libbpf before 1.6 does not return the functions and lines that it gave to the kernel, so we read
 * them from the file. To find the place of each function in the loaded program, we follow the calls
 * in the file and in the loaded program side by side.
 */
int bb_btf_ext__read(const char *elf, size_t len, const char *program, const char *section,
		     struct bb_code *code, struct bb_err *err);

/* Writes the source line of slot `insn` of `function`, such as "file.c:12", or "" if it is
 * unknown. */
void bb_btf_ext__source_line(const char *elf, size_t len, const struct btf *btf,
			     const char *function, uint32_t insn, char *ret_line, size_t size);
