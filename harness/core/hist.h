/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The samples of a series as a histogram: whole numbers, usually ns, each with its count. Values
 * below BB_HIST_EXACT are exact. A larger value is kept as the middle of its bucket, which is at
 * most 0.05 % wide (12 significant bits), so ten million samples take kilobytes. With `is_exact`
 * all values are exact. The order of samples is lost. */
#define BB_HIST_EXACT 4096

struct bb_hist_bin {
	uint64_t value_ns;
	uint64_t count;
};

/* A zeroed struct is an empty histogram. `sum_ns`, `min_ns` and `max_ns` are always exact. */
struct bb_hist {
	/* hash table with open addressing; count 0 marks a free slot */
	struct bb_hist_bin *slots;
	size_t capacity;
	size_t used;
	bool is_exact; /* set this before the first sample is added */
	uint64_t n;
	double sum_ns;
	uint64_t min_ns, max_ns; /* valid if n > 0 */
};

/* The bins in ascending order. */
struct bb_sorted {
	struct bb_hist_bin *bins;
	size_t n_bins;
	uint64_t n;
};

void bb_hist_done(struct bb_hist *h);

/* Returns how many low bits of `v` an inexact histogram drops. */
static inline int bb_hist_shift(uint64_t v)
{
	return v < BB_HIST_EXACT ? 0 : 64 - __builtin_clzll(v) - 12;
}

/* Returns the value that an inexact histogram keeps for `v`: v itself, or the middle of its bucket.
 * bb_hist_kept() does not change a value that it has returned. */
uint64_t bb_hist_kept(uint64_t v);

/* Makes room for `n` more distinct values, so that adding them allocates no memory. */
void bb_hist_reserve(struct bb_hist *h, size_t n);

void bb_hist_add(struct bb_hist *h, uint64_t value_ns, uint64_t count);

/* Adds all samples of `from`. If `from` is exact, `h` becomes exact. */
void bb_hist_merge(struct bb_hist *h, const struct bb_hist *from);

/* Copies the bins in ascending order. The caller calls bb_sorted_done(). */
void bb_hist_sort(const struct bb_hist *h, struct bb_sorted *ret_sorted);
void bb_sorted_done(struct bb_sorted *s);

/* Counts of times in fixed buckets, for totals over days. Bucket i ends at the bound
 * bb_time_bucket_bound(i), which belongs to it. The bounds are 32, 48, 64, 96, 128 ns and so on,
 * two per power of two, up to 33.6 ms. The last bucket has no bound. */
#define BB_TIME_BUCKETS 42

struct bb_time_buckets {
	uint64_t counts[BB_TIME_BUCKETS];
	uint64_t n;
	double sum_ns;
};

/* Returns the bound of bucket `i`, ns; INFINITY for the last one. */
double bb_time_bucket_bound(size_t i);

void bb_time_buckets__add(struct bb_time_buckets *b, const struct bb_hist *from);
