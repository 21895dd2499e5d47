/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_PROG_TYPE_H
#define BB_BPF_PROG_TYPE_H

#include "base/err.h"
#include "base/std.h"

/* 6.4: newer than headers and libbpf of Debian 12 */
#define BB_PROG_TYPE_NETFILTER 32u
#define BB_ATTACH_NETFILTER 45u

struct bb_prog_type_name {
	char text[32];
};

/* The kernel's word for a program type, "xdp"; "type-99" where libbpf does not know it. */
struct bb_prog_type_name bb_prog_type_name(uint32_t type);

/*
 * libbpf takes a program's type from the name of its section. Objects that were written for other
 * loaders have names of their own ("classifier/x", "xdp_pass"), of which it knows nothing.
 */

/* The types that `section`, a name that libbpf or a newer one knows ("tc", "cgroup/connect4"),
 * stands for. -EINVAL with a message. */
int bb_section_type__find(const char *section, uint32_t *ret_type, uint32_t *ret_attach_type,
			  struct bb_err *err);

/* "uprobe.s/...", "iter.s/task": its programs may sleep. */
bool bb_section_type__is_sleepable(const char *section);

/* The name that libbpf knows for one that it does not, where its beginning is clear: "tc" for
 * "classifier/x". NULL: it is not. */
const char *bb_section_type__guess(const char *section);

/* Names of hooks by the kernel's own BTF, for messages about those that it does not have. */
enum bb_name_of {
	BB_NAME_OF_FUNCTION, /* fentry, fexit, fmod_ret, kprobe */
	BB_NAME_OF_LSM,      /* without "bpf_lsm_" */
	BB_NAME_OF_EVENT,    /* tp_btf: without "btf_trace_" */
	BB_NAME_OF_ITER,     /* without "bpf_iter_" */
};

/* The nearest name to `name`, which may be the name itself. false: none is near. */
bool bb_kernel_name__nearest(enum bb_name_of of, const char *name, char *ret_near, size_t size);

/* The hook that `section` names ("fentry/vfs_raed"), where it is one by BTF, and the nearest that
 * there is ("" if none). false: it is none of these. */
bool bb_kernel_name__of_section(const char *section, char *ret_near, size_t size);

#endif
