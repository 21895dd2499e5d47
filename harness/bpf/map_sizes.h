/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_MAP_SIZES_H
#define BB_BPF_MAP_SIZES_H

#include <stddef.h>

#include "base/err.h"

struct bpf_object;

/* The patterns of maps of maps that bb_map_sizes__mend() made: descriptors, fds[n]. */
struct bb_map_patterns {
	int *fds;
	size_t n;
};

/*
 * Gives the maps of an object that is not loaded yet the sizes that its author left to the loader.
 * The same object file has the same patterns, which are made once for all of its loads. 0 or
 * -ENOMEM.
 */
int bb_map_sizes__mend(struct bpf_object *obj, struct bb_map_patterns *patterns,
		       struct bb_err *err);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

#endif
