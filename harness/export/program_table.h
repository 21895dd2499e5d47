/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_PROGRAM_TABLE_H
#define BB_EXPORT_PROGRAM_TABLE_H

#include <stdio.h>

#include "report/report.h"

/* A line a program, a column a static metric (core/metric.c); nothing when the run has none. 0 or
 * -ENOMEM. */
int bb_put_programs(const struct bb_report *r, FILE *out);

#endif
