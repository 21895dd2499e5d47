/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BASE_CONFINE_H
#define BB_BASE_CONFINE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * For a child process that reads other people's data: from now on it can only compute, and read and
 * write its open descriptors. All descriptors but those of `keep` (keep[n], put in order here) are
 * closed, as the parent may have any; root becomes nobody, and no capability is left; seccomp
 * answers all but a few system calls with EPERM (where the kernel has it); the kernel kills the
 * child when `parent` ends. No program that it starts could get more rights. 0 or -errno: then it
 * is not confined and has to end.
 */
int bb_confine(int *keep, size_t n, pid_t parent);

/*
 * For a child in which libbpf loads somebody else's object as if the kernel took all of it: it
 * keeps no descriptor, may open files for reading (those that anybody may read: the kernel's BTF),
 * and bpf() does nothing. Every call of it returns 0, which stands for a descriptor; -EPERM
 * else.
 */
int bb_confine_trial(pid_t parent);

/* Called in the child before it is confined: it limits how much more memory the child may map. */
void bb_confine_memory(uint64_t more_bytes);

#endif
