/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_HOT_COLD_TABLE_H
#define BB_EXPORT_HOT_COLD_TABLE_H

#include <stdio.h>

#include "report/report.h"

/*
 * From hot to cold: the two ends of the cost of a run, a table for each scenario and drive that was
 * measured with and without emptied caches. A row is a variant at a value of the parameter; of a
 * sweep (export/sweep_table.h) it is the medians of a variant over the values that have both ends.
 * Nothing where there is no such pair. 0 or -ENOMEM.
 */
int bb_put_hot_cold(const struct bb_report *r, FILE *out);

#endif
