/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * What other tools would have said of the same samples, for the side-by-side table; no verdict of
 * ours rests on these. All take a[na] (base) and b[nb] (head), any order, and give -EINVAL if a
 * value is NAN or a side is empty.
 */
struct bb_other_method {
	/* of b to a in the tool's own location; NAN or inf when that of a is 0 */
	double ratio;
	/* Welch: t of b - a; Mann-Whitney: U = #{b > a} + #{b = a} / 2; else NAN */
	double statistic;
	double p;       /* two-sided; NAN where the tool has none */
	bool different; /* what the tool would report */
};

/*
 * Ratio of means, Welch's t-test (Welch 1947; df by Satterthwaite). With fewer than 2 values on a
 * side p is NAN and nothing is different; of two constants p is 1 if they are equal, else 0. Does
 * not allocate.
 */
int bb_other_welch(const double *a, size_t na, const double *b, size_t nb, double alpha,
		   struct bb_other_method *ret_result);

/*
 * Ratio of medians, Mann-Whitney U by the normal approximation with corrections for ties and
 * continuity (Hollander & Wolfe 1999, 4.1; what R does without exact = TRUE); p = 1 when all values
 * are equal. On what benchstat sees, pass it one median a run, in the order they were measured:
 * bb_other_batch_medians(). Also -ENOMEM: it allocates (and frees) na + nb doubles.
 */
int bb_other_mann_whitney(const double *a, size_t na, const double *b, size_t nb, double alpha,
			  struct bb_other_method *ret_result);

/* Ratio of minima; different if it is off 1 by more than `threshold` (0.01 is 1 %) in either
 * direction. */
int bb_other_minimum(const double *a, size_t na, const double *b, size_t nb, double threshold,
		     struct bb_other_method *ret_result);

/* Ratio of the naive means, nothing left out; different as above. */
int bb_other_mean(const double *a, size_t na, const double *b, size_t nb, double threshold,
		  struct bb_other_method *ret_result);

/*
 * Cut x[n], in the order of measurement, into batches of `batch` values and sort each in place;
 * ret_medians[n / batch] are their medians. A rest is left out. Returns the number of batches, 0 if
 * batch is 0. Does not allocate.
 */
size_t bb_other_batch_medians(double *x, size_t n, size_t batch, double *ret_medians);
