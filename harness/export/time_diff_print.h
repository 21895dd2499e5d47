/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_TIME_DIFF_PRINT_H
#define BB_EXPORT_TIME_DIFF_PRINT_H

#include <stdio.h>

#include "judge/time_diff.h"

/* "+84 ns in line 131 (bpf_ktime_get_ns), no other line differs" into buf[size]. */
void bb_time_diff__sentence(const struct bb_time_diff_case *c, char *buf, size_t size);

/* Of each case the whole run, the sentence, and the lines that differ or may. 0 or -ENOMEM. */
int bb_time_diff__print(const struct bb_time_diff *d, FILE *out);

/* The same for a pull request, in Markdown. */
void bb_time_diff__markdown(const struct bb_time_diff *d, FILE *out);

#endif
