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

#endif
