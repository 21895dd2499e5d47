/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_COUNTED_TABLE_H
#define BB_REPORT_COUNTED_TABLE_H

#include <stdio.h>

#include "report/report.h"

/* The table of what was counted, a row a program; nothing if there is none. 0 or -ENOMEM. */
int bb_put_counted(const struct bb_report *r, FILE *out);

#endif
