/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_STRUCT_OPS_H
#define BB_BPF_STRUCT_OPS_H

#include <bpf/libbpf.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Programs of section "struct_ops/..." are members of a struct of functions, a map of type
 * struct_ops, which the kernel calls from where it is registered. It is registered by a link (Linux
 * 6.4), which goes with its last descriptor: without one, it would stay when bpfbench is killed.
 */
#define BB_ATTACH_STRUCT_OPS 44 /* BPF_STRUCT_OPS of enum bpf_attach_type */

void bb_struct_ops__prepare(struct bpf_object *obj); /* before it is loaded */
void bb_struct_ops__fill(struct bpf_object *obj);    /* after; nothing is registered yet */

/* Of the object that is loaded and filled: the map that has the program. -1: none. */
int bb_struct_ops__map_of(const struct bpf_object *obj, int prog_fd);

/* The name that a TCP congestion control is chosen by. -ENOTSUP: it is something else; with a
 * message. */
int bb_struct_ops__tcp_name(int map_fd, char *ret_name, size_t size, struct bb_err *err);

#endif
