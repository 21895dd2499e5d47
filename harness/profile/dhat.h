/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_DHAT_H
#define BB_PROFILE_DHAT_H

#include "base/err.h"
#include "base/std.h"

/*
 * The totals of a file by `valgrind --tool=dhat`, version 2, as valgrind prints them itself: Total
 * (everything that was ever allocated), At t-gmax (when the heap was at its largest), At t-end
 * (memory that was never freed).
 */
struct bb_dhat {
	uint64_t total_bytes, total_blocks;
	uint64_t gmax_bytes, gmax_blocks;
	uint64_t end_bytes, end_blocks;
};

struct bb_dhat_metric {
	const char *name; /* "Total, bytes" */
	const char *slug; /* BMF measure */
	const char *key;  /* of an allocation point in the file */
	size_t offset;    /* in struct bb_dhat */
};

extern const struct bb_dhat_metric bb_dhat_metrics[];
extern const size_t bb_n_dhat_metrics;

static inline uint64_t bb_dhat_of(const struct bb_dhat *d, const struct bb_dhat_metric *m)
{
	return *(const uint64_t *)((const char *)d + m->offset);
}

/* 0, or -errno with a message that names the file: -EINVAL when it is not DHAT's, or not of heap
 * mode. */
int bb_dhat__read(const char *path, struct bb_dhat *ret_dhat, struct bb_err *err);

#endif
