/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_COST_PRINT_H
#define BB_EXPORT_COST_PRINT_H

#include <stdio.h>

#include "judge/cost.h"

/* The table of costs with how well they predict, or in one line why there are none. 0 or -ENOMEM.
 */
int bb_cost__print(const struct bb_cost *k, FILE *out);

#endif
