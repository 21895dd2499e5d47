/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_SWEEP_TABLE_H
#define BB_EXPORT_SWEEP_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "export/text_table.h"
#include "report/report.h"

/*
 * A drive over very many values of a parameter (256 inputs): one table for all of them, a row a
 * variant, instead of a table for each. Which value costs what is in the stored run, in BMF and in
 * the plot.
 */
#define BB_SWEEP_VALUES 16u /* more than these make a sweep */

/* Of which case i is a part: it has a parameter, and its scenario and drive have many values of it.
 */
bool bb_is_sweep(const struct bb_report *r, size_t i);

/* Is case i the first of its sweep? */
bool bb_is_sweep_head(const struct bb_report *r, size_t i);

/* The table of the sweep that begins with case `head`; bb_text_table__done() it. 0 or -ENOMEM. */
int bb_sweep__make(const struct bb_report *r, size_t head, struct bb_text_table *ret_table);

/* The same as text, under its title. 0 or -ENOMEM. */
int bb_put_sweep(const struct bb_report *r, size_t head, FILE *out);

#endif
