/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_COUNTED_TABLE_H
#define BB_EXPORT_COUNTED_TABLE_H

#include <stdio.h>

#include "export/text_table.h"
#include "report/report.h"

/* The table of the counts, a row a program; bb_text_table__done() it. */
void bb_counted_table__make(const struct bb_report *r, struct bb_text_table *ret_table);

/* The same as text, with remarks; nothing if there is none. 0 or -ENOMEM. */
int bb_put_counted(const struct bb_report *r, FILE *out);

#endif
