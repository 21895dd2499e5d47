/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_KERNEL_NAME_H
#define BB_BPF_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

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
