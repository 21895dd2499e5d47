/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"

/* Programs that any process has loaded into the kernel. An open descriptor keeps a program alive
 * after its owner unloads it, so we hold a descriptor no longer than a measurement needs. */
#define BB_LOADED_NAME 128

struct bb_loaded {
	uint32_t id;
	uint32_t type; /* BPF_PROG_TYPE_* */
	/* name of the program's function; only the first 15 bytes if the program has no BTF; may be
	 * empty */
	char name[BB_LOADED_NAME];
	char tag[BB_TAG]; /* SHA of the program's instructions, in hex */
};

/* Finds the smallest program id above `id`; pass 0 for the first program. Returns 0; -ENOENT
 * without a message if there are no more; -EPERM without CAP_SYS_ADMIN. */
int bb_loaded__next(uint32_t id, uint32_t *ret_id, struct bb_err *err);

/* Open a loaded program by its id, or by the path of its pin. The caller closes `*ret_fd`. -ENOENT
 * if no such program is loaded; -EINVAL if the pinned object is not a program. */
int bb_loaded__open(uint32_t id, int *ret_fd, struct bb_err *err);
int bb_loaded__open_pinned(const char *path, int *ret_fd, struct bb_err *err);

/* True unless the kernel says that no program has this id. */
bool bb_loaded__is_there(uint32_t id);

/* Replaces *ret_name by the whole name of a program, because the kernel keeps only 15 bytes of it.
 * `btf_id` is the program's BTF, and `func_type_id` the type of its main function. If the BTF has
 * no such name, *ret_name does not change. */
void bb_loaded__whole_name(uint32_t btf_id, uint32_t func_type_id, char ret_name[BB_LOADED_NAME]);

/* Reads id, type, name and tag of an open program. Returns 0, or -errno with a message. */
int bb_loaded__read(int fd, struct bb_loaded *ret_loaded, struct bb_err *err);
