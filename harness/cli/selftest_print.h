/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_SELFTEST_PRINT_H
#define BB_CLI_SELFTEST_PRINT_H

#include <stdio.h>

#include "run/selftest_plain.h"

/* How well plain runs repeat here, and the causes of differences that were looked for. */
void bb_selftest_print_repeat(FILE *out, const struct bb_repeat *r);

#endif
