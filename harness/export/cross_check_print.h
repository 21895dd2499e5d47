/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_CROSS_CHECK_PRINT_H
#define BB_EXPORT_CROSS_CHECK_PRINT_H

#include <stdio.h>

#include "report/report.h"

/* The table of all cross-checks of step and slope (judge/cross_check.h), nothing if there are none.
 * 0 or -ENOMEM. */
int bb_put_cross_checks(const struct bb_report *r, FILE *out);

#endif
