/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_BTF_EXT_H
#define BB_BPF_BTF_EXT_H

#include <stddef.h>

#include "base/err.h"
#include "bpf/code.h"

/*
 * Fill `code`'s functions, lines and licence from the object file elf[len]. libbpf does not hand
 * out those that it gave to the kernel (before 1.6), so they are computed anew: the calls of the
 * final program and of the sections in the file are walked in step, which says where each function
 * came from. `code` has its instructions and btf already; `program` and `section` are its names in
 * the file. An object without .BTF.ext leaves functions and lines empty.
 */
int bb_btf_ext__read(const char *elf, size_t len, const char *program, const char *section,
		     struct bb_code *code, struct bb_err *err);

/* Where instruction `insn` of `function` is in its source, "file.c:12"; "" where that is not known.
 */
struct btf;
void bb_btf_ext__place(const char *elf, size_t len, const struct btf *btf, const char *function,
		       uint32_t insn, char *ret_place, size_t size);

#endif
