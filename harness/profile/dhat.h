/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Totals of a file of `valgrind --tool=dhat` (version 2): Total (all memory ever allocated), At
 * t-gmax (when the heap was largest) and At t-end (memory never freed). */
struct bb_dhat {
	uint64_t total_bytes, total_blocks;
	uint64_t gmax_bytes, gmax_blocks;
	uint64_t end_bytes, end_blocks;
};

struct bb_dhat_metric {
	const char *name; /* valgrind's name of the total: "Total, bytes" */
	const char *slug; /* name of the measure in Bencher Metric Format */
	const char *key;  /* JSON key of an allocation point's part of the total */
	size_t offset;
};

extern const struct bb_dhat_metric bb_dhat_metrics[];
extern const size_t bb_n_dhat_metrics;

static inline uint64_t bb_dhat_of(const struct bb_dhat *d, const struct bb_dhat_metric *m)
{
	return *(const uint64_t *)((const char *)d + m->offset);
}

/* Returns 0, or -errno with a message: -EINVAL if DHAT did not write the file in heap mode. */
int bb_dhat__read(const char *path, struct bb_dhat *ret_dhat, struct bb_err *err);
