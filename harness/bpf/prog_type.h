/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Linux 6.4; the headers and libbpf of Debian 12 do not have it */
#define BB_PROG_TYPE_NETFILTER 32u
#define BB_ATTACH_NETFILTER 45u

struct bb_prog_type_name {
	char text[32];
};

/* Returns the name of a program type, such as "xdp"; "type-99" if libbpf does not know it. */
struct bb_prog_type_name bb_prog_type_name(uint32_t type);

/* libbpf derives a program's type from the name of its section. It does not know some names that
 * other loaders use, such as "classifier/x" or "xdp_pass". */

/* Returns the program type and the expected attach type of a section, such as "tc" or
 * "cgroup/connect4". Also knows some sections of newer libbpf. Fails with -EINVAL if the section is
 * unknown. */
int bb_section_type__find(const char *section, uint32_t *ret_type, uint32_t *ret_attach_type,
			  struct bb_err *err);

/* True for sections such as "uprobe.s/..." and "iter.s/task", whose programs may sleep. */
bool bb_section_type__is_sleepable(const char *section);

/* Guesses a known section for an unknown one: "tc" for "classifier/x". Returns NULL if there is no
 * guess. */
const char *bb_section_type__guess(const char *section);

/* Kinds of hooks, to suggest a hook that the kernel's BTF has. Names are passed without the prefix
 * that the BTF puts before them. */
enum bb_name_of {
	BB_NAME_OF_FUNCTION, /* fentry, fexit, fmod_ret, kprobe */
	BB_NAME_OF_LSM,      /* lsm; prefix "bpf_lsm_" */
	BB_NAME_OF_EVENT,    /* tp_btf; prefix "btf_trace_" */
	BB_NAME_OF_ITER,     /* iter; prefix "bpf_iter_" */
};

/* Writes the name of the existing hook that is nearest to `name`, which may be `name` itself.
 * Returns false if no name is near. */
bool bb_kernel_name__nearest(enum bb_name_of of, const char *name, char *ret_near, size_t size);

/* Writes the nearest existing hook for a section such as "fentry/vfs_raed", or "" if none is near.
 * Returns false if the kernel's BTF does not list the hooks of this kind. */
bool bb_kernel_name__of_section(const char *section, char *ret_near, size_t size);
