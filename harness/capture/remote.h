/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A process of the captured command, whose thread `tid` waits in a system call. */
struct bb_remote {
	pid_t tid, tgid; /* tgid is 0 until bb_remote__process() has read it */
	int pidfd;
};

/* Opens a pidfd for the thread. Returns 0 or -errno. */
int bb_remote__open(pid_t tid, struct bb_remote *ret_remote);
void bb_remote__close(struct bb_remote *r);

/* Returns the thread's process id, or a negative number if the thread has ended. */
pid_t bb_remote__process(struct bb_remote *r);

/* Returns 0, or -EPERM or -ENOSYS if we may not copy the process's descriptors or memory. */
int bb_remote__try(const struct bb_remote *r);

/* Reads the process's memory at address `at`. Returns -EFAULT if part of it is not mapped. */
int bb_remote__read(const struct bb_remote *r, uint64_t at, void *dest, size_t size);
/* Reads a string of at most `size` - 1 bytes. After an error, dest is "". */
int bb_remote__read_text(const struct bb_remote *r, uint64_t at, char *dest, size_t size);
/* Reads n records of from_size bytes, and cuts or pads each to to_size bytes. *ret_records is the
 * address of the copy, which the caller must free(). It is NULL if n or `at` is 0. */
int bb_remote__copy(const struct bb_remote *r, uint64_t at, size_t n, size_t from_size,
		    size_t to_size, void *ret_records);

/* Returns a close-on-exec copy of the process's descriptor `fd`, or -errno. */
int bb_remote__fd(const struct bb_remote *r, int fd);

/* Rights are capabilities for bpf() (bpf_prog_load() in kernel/bpf/syscall.c) as bits 1 <<
 * CAP_BPF. */

/* Returns the rights of a thread: 0 in another user namespace, all if they cannot be read. */
uint64_t bb_rights__of(pid_t tid);

/* True if `rights` suffice for programs of every type. */
bool bb_rights__are_whole(uint64_t rights);

/* Writes the names of the missing rights: "CAP_BPF, CAP_PERFMON". */
void bb_rights__say_lacking(uint64_t rights, char *ret_text, size_t size);

/* Removes all other rights from our thread until bb_rights__restore(). Calls cannot be nested.
 * Returns 0 or -errno. */
struct bb_rights_before {
	uint32_t effective[2];
};
int bb_rights__limit(uint64_t rights, struct bb_rights_before *ret_before);
void bb_rights__restore(const struct bb_rights_before *before);
