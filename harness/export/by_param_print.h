/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_BY_PARAM_PRINT_H
#define BB_EXPORT_BY_PARAM_PRINT_H

#include <stdio.h>

#include "judge/by_line.h"

/*
 * Cases of one variant under one drive at several values of its parameter (inputs, stack depths)
 * side by side: a column a value, a row a line. `cases[n]` may hold others, too; nothing is written
 * for what has one value alone. 0 or -ENOMEM.
 */
int bb_by_param__print(const struct bb_by_line *cases, size_t n, FILE *out);

#endif
