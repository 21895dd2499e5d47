/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

#define BB_REPEATS_READ 12u /* limit: newest stored runs that are used */
#define BB_REPEATS_LEAST 6u /* the fewest runs whose spread is used */

/*
 * Sets `between`, `between_relative` and `between_runs` of each case of `r`, from the newest stored
 * runs in the folder `dir` that repeat `r`. A stored run repeats `r` if its name, machine and
 * program are the same, and if the program executed as many instructions. A case with less than
 * BB_REPEATS_LEAST such runs stays as it is. Runs that cannot be read do not count.
 */
void bb_repeats__note(const char *dir, struct bb_report *r);
