/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The answers of other tools' methods for the same samples, for comparison only: no verdict of
 * bpfbench uses them. All take a[na] (base) and b[nb] (head) in any order, and return -EINVAL if a
 * value is NAN or a side is empty.
 */
struct bb_other_method {
	/* b / a, in the tool's own location (mean, median or minimum); NAN or inf if a's is 0 */
	double ratio;
	/* Welch: t of b - a; Mann-Whitney: U = #{b > a} + #{b = a} / 2; else NAN */
	double statistic;
	double p;       /* two-sided; NAN where the tool has none */
	bool different; /* the tool would report a difference */
};

/*
 * Ratio of means, Welch's t-test (Welch 1947; df by Satterthwaite). With fewer than 2 values on a
 * side, p is NAN and `different` is false. If all values of each side are equal, p is 1 for equal
 * sides and 0 otherwise. Does not allocate.
 */
int bb_other_welch(const double *a, size_t na, const double *b, size_t nb, double alpha,
		   struct bb_other_method *ret_result);

/*
 * Ratio of medians, Mann-Whitney U by the normal approximation with corrections for ties and
 * continuity (Hollander & Wolfe 1999, 4.1; like R without exact = TRUE); p = 1 if all values are
 * equal. For the input of benchstat, pass one median per run, in order of measurement:
 * bb_other_batch_medians(). Also returns -ENOMEM: it allocates (and frees) na + nb doubles.
 */
int bb_other_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double alpha,
			  struct bb_other_method *ret_result);

/* Ratio of minima; `different` if it differs from 1 by more than `threshold` (0.01 is 1 %) in
 * either direction. */
int bb_other_minimum(const double *a, size_t na, const double *b, size_t nb, double threshold,
		     struct bb_other_method *ret_result);

/* Ratio of the naive means of all values; `different` as in bb_other_minimum(). */
int bb_other_mean(const double *a, size_t na, const double *b, size_t nb, double threshold,
		  struct bb_other_method *ret_result);

/*
 * Cuts x[n], in order of measurement, into batches of `batch` values and sorts each in place;
 * ret_medians[n / batch] receives their medians. The remainder is left out. Returns the number of
 * batches, 0 if batch is 0. Does not allocate.
 */
size_t bb_other_batch_medians(double *x, size_t n, size_t batch, double *ret_medians);
