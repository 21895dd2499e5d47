/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_TIME_DIFF_PRINT_H
#define BB_EXPORT_TIME_DIFF_PRINT_H

#include <stdio.h>

#include "judge/time_diff.h"

/* Of each case the whole run, the sentence, and the lines that differ or may. 0 or -ENOMEM. */
int bb_time_diff__print(const struct bb_time_diff *d, FILE *out);

/* The same for a pull request, in Markdown. */
void bb_time_diff__markdown(const struct bb_time_diff *d, FILE *out);

#endif
