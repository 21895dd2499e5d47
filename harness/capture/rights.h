/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Rights to load BPF programs: the capabilities that bpf() looks at (bpf_prog_load() in
 * kernel/bpf/syscall.c), bits 1 << CAP_BPF and so on. */

/* Returns the rights of a thread: 0 if it is in another user namespace, all if they cannot be
 * read. */
uint64_t bb_rights__of(pid_t tid);

/* True if `rights` suffice for programs of every type. */
bool bb_rights__are_whole(uint64_t rights);

/* Writes the names of the missing rights: "CAP_BPF, CAP_PERFMON". */
void bb_rights__say_lacking(uint64_t rights, char *ret_text, size_t size);

/* Limits our thread to `rights` until bb_rights__restore(). Calls do not nest. Returns 0 or -errno.
 */
struct bb_rights_before {
	uint32_t effective[2];
};
int bb_rights__limit(uint64_t rights, struct bb_rights_before *ret_before);
void bb_rights__restore(const struct bb_rights_before *before);
