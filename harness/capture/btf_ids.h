/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_BTF_IDS_H
#define BB_CAPTURE_BTF_IDS_H

#include <linux/bpf.h>

/* The id of an open BTF; `name` gets that of the kernel or its module, "" for a program's. 0 or
 * -errno. */
int bb_btf_info(int fd, struct bpf_btf_info *ret_info, char *name, unsigned int name_size);

/* A descriptor of the BTF of "vmlinux" or a module, -1 with errno set: none is loaded. */
int bb_btf_of_kernel(const char *module);

#endif
