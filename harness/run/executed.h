/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_EXECUTED_H
#define BB_RUN_EXECUTED_H

#include "report/report.h"
#include "run/session.h"

/*
 * How much of each program its runs execute: an input that a program turns away at its first line
 * gives a figure of that line, and nothing in the figure says so. A clone with counters
 * (drivers/exact.h) is run a few times on the input of every case of a drive that fires
 * (case_of[i]: the report's case of the plan's case i, SIZE_MAX: none). A case has no such numbers
 * where its clone does not load, and where a tenth of the time left (base/deadline.h) did not do.
 * 0, or -EINTR after a signal.
 */
int bb_note_executed(struct bb_session *s, const size_t *case_of, struct bb_report *report);

#endif
