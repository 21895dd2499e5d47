/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CORE_HIST_H
#define BB_CORE_HIST_H

#include "base/std.h"

/*
 * The samples of one series, as counts of equal values: a multiset of whole nanoseconds. Values
 * below BB_HIST_EXACT are kept exactly; larger ones to 12 significant bits (0.05 %, the middle of
 * the bucket), so that ten million samples take kilobytes. The order of the samples is not kept;
 * `sum` and the extremes are of the values as they came.
 */
#define BB_HIST_EXACT 4096

struct bb_hist_bin {
	uint64_t value_ns;
	uint64_t count;
};

/* Zeroed: empty. */
struct bb_hist {
	/* open addressing, count == 0 where free; capacity is a power of two */
	struct bb_hist_bin *slots;
	size_t capacity;
	size_t used;
	uint64_t n; /* samples added */
	double sum_ns;
	uint64_t min_ns, max_ns; /* meaningful when n > 0 */
};

/* Values with their counts, ascending by value: every statistic works on these. Not owned by the
 * histogram. */
struct bb_sorted {
	struct bb_hist_bin *bins;
	size_t n_bins;
	uint64_t n; /* sum of the counts */
};

void bb_hist_done(struct bb_hist *h);

/* The value that stands for `v` among the bins; of such a one, itself. */
uint64_t bb_hist_kept(uint64_t v);

/* Make room so that the next `n` distinct values allocate nothing. 0 or -ENOMEM. */
int bb_hist_reserve(struct bb_hist *h, size_t n);

/* Add `count` samples of `value_ns`. 0 or -ENOMEM. */
int bb_hist_add(struct bb_hist *h, uint64_t value_ns, uint64_t count);

/* Add all of `from` to `h`. 0 or -ENOMEM. */
int bb_hist_merge(struct bb_hist *h, const struct bb_hist *from);

/* Sorted copy of the bins of `h`; free with bb_sorted_done(). 0 or -ENOMEM. */
int bb_hist_sort(const struct bb_hist *h, struct bb_sorted *ret_sorted);
void bb_sorted_done(struct bb_sorted *s);

#endif
