/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_EXACT_DIFF_PRINT_H
#define BB_EXPORT_EXACT_DIFF_PRINT_H

#include <stdio.h>

#include "judge/exact_diff.h"

/* Of these, as many are shown. */
#define BB_EXACT_ROWS 20u
#define BB_EXACT_LINES 5u

/* The cases that differ, and the lines that make the difference. 0 or -ENOMEM. */
int bb_exact_diff__print(const struct bb_exact_diff *d, FILE *out);

#endif
