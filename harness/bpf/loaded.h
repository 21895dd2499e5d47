/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"

/* Programs that any process has loaded into the kernel. We hold a descriptor no longer than a
 * measurement needs it, because it keeps the program in the kernel after its owner unloads it. */
#define BB_LOADED_NAME 128

struct bb_loaded {
	uint32_t id;
	uint32_t type; /* BPF_PROG_TYPE_* */
	/* may be empty; only the first 15 bytes if the program has no BTF */
	char name[BB_LOADED_NAME];
	char tag[BB_TAG]; /* SHA of the program's instructions, in hex */
};

/* Finds the smallest program id above `id`. Returns -ENOENT without a message if there are no
 * more. */
int bb_loaded__next(uint32_t id, uint32_t *ret_id, struct bb_err *err);

/* Open a loaded program by its id, or by the path of its pin. Both fail with -ENOENT if there is
 * none. bb_loaded__open_pinned() fails with -EINVAL if another object is pinned there. */
int bb_loaded__open(uint32_t id, int *ret_fd, struct bb_err *err);
int bb_loaded__open_pinned(const char *path, int *ret_fd, struct bb_err *err);

/* False only if the kernel says that no program has this id. */
bool bb_loaded__is_there(uint32_t id);

/* Replaces *ret_name, of which the kernel keeps only 15 bytes, by the name of the main function's
 * type `func_type_id` in the BTF `btf_id`. *ret_name stays if there is no such type. */
void bb_loaded__whole_name(uint32_t btf_id, uint32_t func_type_id, char ret_name[BB_LOADED_NAME]);

int bb_loaded__read(int fd, struct bb_loaded *ret_loaded, struct bb_err *err);
