/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_SELFTEST_PRINT_H
#define BB_CLI_SELFTEST_PRINT_H

#include <stdio.h>

#include "run/selftest_pool.h"

/* How well plain runs repeat here, by this self-test and those before it, and the causes of
 * differences that were looked for in this one. */
void bb_selftest_print_repeat(FILE *out, const struct bb_repeat *r, const struct bb_between *b);

#endif
