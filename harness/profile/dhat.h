/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Totals of a file that `valgrind --tool=dhat` wrote (version 2), in bytes and in blocks. Valgrind
 * calls them Total (all memory ever allocated), At t-gmax (when the heap was largest) and At t-end
 * (memory never freed). */
struct bb_dhat {
	uint64_t total_bytes, total_blocks;
	uint64_t gmax_bytes, gmax_blocks;
	uint64_t end_bytes, end_blocks;
};

struct bb_dhat_metric {
	const char *name; /* valgrind's name of the total: "Total, bytes" */
	const char *slug; /* name of the measure in BMF */
	/* key under which each allocation point in the file has its part of the total */
	const char *key;
	size_t offset; /* offset of the total in struct bb_dhat */
};

extern const struct bb_dhat_metric bb_dhat_metrics[];
extern const size_t bb_n_dhat_metrics;

static inline uint64_t bb_dhat_of(const struct bb_dhat *d, const struct bb_dhat_metric *m)
{
	return *(const uint64_t *)((const char *)d + m->offset);
}

/* Reads a DHAT file. Returns 0, or -errno with a message that names the file; -EINVAL if DHAT did
 * not write the file, or did not run in heap mode. */
int bb_dhat__read(const char *path, struct bb_dhat *ret_dhat, struct bb_err *err);
