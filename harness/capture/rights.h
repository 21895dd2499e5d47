/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CAPTURE_RIGHTS_H
#define BB_CAPTURE_RIGHTS_H

#include "base/std.h"

/*
 * Rights to load BPF programs: the capabilities that bpf() looks at (bpf_prog_load() in
 * kernel/bpf/syscall.c), bits 1 << CAP_BPF and so on.
 */

/* Those of a thread. In a user namespace that is not ours it has none; all where it cannot be
 * asked. */
uint64_t bb_rights__of(pid_t tid);

/* Do they suffice for programs of every type? */
bool bb_rights__are_whole(uint64_t rights);

/* Those that are lacking: "CAP_BPF, CAP_PERFMON". */
void bb_rights__say_lacking(uint64_t rights, char *ret_text, size_t size);

/* Between these two our thread has no others. They do not nest. 0 or -errno; the second one takes
 * the state that the first one gives. */
struct bb_rights_before {
	uint32_t effective[2];
};
int bb_rights__limit(uint64_t rights, struct bb_rights_before *ret_before);
void bb_rights__restore(const struct bb_rights_before *before);

#endif
