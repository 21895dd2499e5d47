/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

#define BB_REPEATS_READ 12u /* the most stored runs that count */
#define BB_REPEATS_LEAST 6u /* the fewest runs whose spread is used */

/*
 * Sets `between`, `between_relative` and `between_runs` of each case of `r` by the newest runs in
 * the folder `dir` that repeat it: their name, machine and program are the same, and the program
 * ran as many of its instructions. A case with less than BB_REPEATS_LEAST such runs stays as it is.
 * Runs that cannot be read do not count.
 */
void bb_repeats__note(const char *dir, struct bb_report *r);
