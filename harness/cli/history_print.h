/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_HISTORY_PRINT_H
#define BB_CLI_HISTORY_PRINT_H

#include <stdio.h>

#include "judge/timeline.h"
#include "report/report.h"

/* For gnuplot: a block a case, columns parted by tabs; the head of the output describes it. only:
 * the cases of that run; NULL: all. */
void bb_history_print_tsv(const struct bb_timeline *t, const struct bb_report *only, FILE *out);

#endif
