/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_HISTORY_PRINT_H
#define BB_CLI_HISTORY_PRINT_H

#include <stdio.h>

#include "judge/timeline.h"
#include "report/report.h"

/* A history as text. 0 or -ENOMEM; `out` keeps its own errors. */

/* For people: a table a case, and at the end the changes that have not been undone. */
int bb_history_print_table(const struct bb_timeline *t, FILE *out);

/* For gnuplot: a block a case, columns parted by tabs; the head of the output describes it. only:
 * the cases of that run; NULL: all. */
int bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

#endif
