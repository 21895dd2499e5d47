/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CONFINE_H
#define BB_BASE_CONFINE_H

#include <stddef.h>
#include <stdint.h>

/* For child processes that read other people's data; struct bb_child_rules names one. */
enum bb_confinement {
	BB_UNCONFINED,
	/*
	 * The child can only compute, and read and write its open descriptors: root becomes nobody,
	 * and no capability is left; seccomp answers all but a few system calls with EPERM (where
	 * the kernel has it). No program that it starts could get more rights.
	 */
	BB_CONFINED,
	/*
	 * A child in which libbpf loads somebody else's object as if the kernel took all of it. It
	 * may open files for reading (those that anybody may read: the kernel's BTF), and bpf()
	 * does nothing: every call of it returns 0, which stands for a descriptor; -EPERM else.
	 */
	BB_CONFINED_TRIAL,
};

/* In the child: for good, and the kernel kills it when its parent ends. 0 or -errno: then it is
 * not confined and has to end. */
int bb_confine(enum bb_confinement how);

/* A file at descriptor 0 for a trial. 0 or -errno. */
int bb_confine_open_trial_file(void);

/* Called in the child before it is confined: it limits how much more memory the child may map. */
void bb_confine_memory(uint64_t more_bytes);

#endif
