/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STATS_NNLS_H
#define BB_STATS_NNLS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The b >= 0 that makes |y - x b|^2 least: x[n][m] by rows, y[n], into ret_b[m]. Active set method
 * of Lawson & Hanson 1974, chapter 23, on normal equations of columns scaled to length 1. Of
 * columns that depend on each other linearly some are 0: which of the equally good solutions comes
 * out is then chance, what it predicts is not. Rows with use[i] false are left out; use NULL: all.
 * 0 or -ENOMEM.
 */
int bb_nnls(const double *x, const double *y, const bool *use, size_t n, size_t m, double *ret_b);

#endif
