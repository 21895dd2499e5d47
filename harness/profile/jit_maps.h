/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_JIT_MAPS_H
#define BB_PROFILE_JIT_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/idmap.h"
#include "profile/symtab.h"

/*
 * The /tmp/perf-PID.map files of processes, read when they are asked for. Zeroed is empty. Anybody
 * may make such a file: it counts if it is a regular file of the process's user or of root.
 */
struct bb_jit_maps {
	struct bb_symtab **v; /* NULL: the process has none */
	size_t n, size;
	struct bb_idmap by_pid;
};

/* NULL when the process, which runs as `uid` (BB_NO_ID: not known), wrote none. 0 or -ENOMEM. */
int bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid,
		     const struct bb_symtab **ret_symtab);
void bb_jit_maps__done(struct bb_jit_maps *maps);

#endif
