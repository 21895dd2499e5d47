/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_DIFF_PRINT_H
#define BB_EXPORT_DIFF_PRINT_H

#include <stdio.h>

#include "judge/diff.h"

/*
 * The table for people: the names of A and B, a line a row, and the count of verdicts. 0 or
 * -ENOMEM; whether the bytes got out is for the caller to ask `out`.
 */
int bb_diff_print(const struct bb_diffs *d, const char *label_a, const char *label_b, FILE *out);

#endif
