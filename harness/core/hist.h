/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * The samples of a series as a histogram: whole numbers, usually ns, each with its count. Values
 * below BB_HIST_EXACT are exact. A larger value is kept as the middle of its bucket, which is 0.05
 * % wide (12 significant bits), so ten million samples take kilobytes. With `is_exact` all values
 * are exact, for numbers that are the same in most runs. The order of samples is lost. `sum_ns`,
 * `min_ns` and `max_ns` are always exact.
 */
#define BB_HIST_EXACT 4096

struct bb_hist_bin {
	uint64_t value_ns;
	uint64_t count;
};

/* A histogram. A zeroed struct is empty. */
struct bb_hist {
	/* slots[capacity]: hash table with open addressing. A slot with count 0 is free. The
	 * capacity is a power of two */
	struct bb_hist_bin *slots;
	size_t capacity;
	size_t used;   /* number of slots that are not free */
	bool is_exact; /* true: no value is rounded; set it before the first sample is added */
	uint64_t n;    /* number of samples */
	double sum_ns;
	uint64_t min_ns, max_ns; /* valid if n > 0 */
};

/* The bins of a histogram in ascending order, for statistics. bb_sorted_done() frees them. */
struct bb_sorted {
	struct bb_hist_bin *bins;
	size_t n_bins;
	uint64_t n; /* sum of the counts */
};

void bb_hist_done(struct bb_hist *h);

/* Returns the number of low bits that a histogram without `is_exact` drops of `v`. */
static inline int bb_hist_shift(uint64_t v)
{
	return v < BB_HIST_EXACT ? 0 : 64 - __builtin_clzll(v) - 12;
}

/* Returns the value that a histogram without `is_exact` keeps for `v`: v itself, or the middle of
 * its bucket. bb_hist_kept(bb_hist_kept(v)) is bb_hist_kept(v). */
uint64_t bb_hist_kept(uint64_t v);

/* Makes room in `h`, so that adding `n` more distinct values allocates no memory. */
void bb_hist_reserve(struct bb_hist *h, size_t n);

/* Adds `count` samples of `value_ns`. */
void bb_hist_add(struct bb_hist *h, uint64_t value_ns, uint64_t count);

/* Adds all samples of `from` to `h`. If `from` is exact, `h` becomes exact. */
void bb_hist_merge(struct bb_hist *h, const struct bb_hist *from);

/* Copies the bins of `h` in ascending order. The caller calls bb_sorted_done(). */
void bb_hist_sort(const struct bb_hist *h, struct bb_sorted *ret_sorted);
void bb_sorted_done(struct bb_sorted *s);

/* Counts of times in a fixed number of buckets, for totals over days. Bucket i counts the times
 * that are above the bound of bucket i - 1 and not above the bound of bucket i. The bounds are 32,
 * 48, 64, 96, 128 ns and so on, two per power of two, up to 33.6 ms. The last bucket has no
 * bound. */
#define BB_TIME_BUCKETS 42

struct bb_time_buckets {
	uint64_t counts[BB_TIME_BUCKETS];
	uint64_t n;    /* sum of the counts */
	double sum_ns; /* sum of all times */
};

/* Returns the bound of bucket `i`, ns; INFINITY for the last one. */
double bb_time_bucket_bound(size_t i);

/* Adds the samples of `from`, which are in ns, to `b`. */
void bb_time_buckets__add(struct bb_time_buckets *b, const struct bb_hist *from);
