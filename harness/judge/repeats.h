/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

#define BB_REPEATS_READ 12u /* at most this many stored runs are used, newest first */
#define BB_REPEATS_LEAST 6u /* the spread of fewer runs is not used */

/* Sets `between`, `between_relative` and `between_runs` of each case of `r` from the newest stored
 * runs in the folder `dir` that repeat it. A run repeats it if it has the same name, machine and
 * program, and executed as many instructions. With less than BB_REPEATS_LEAST runs a case stays as
 * it is. */
void bb_repeats__note(const char *dir, struct bb_report *r);
