/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_COUNT_H
#define BB_RUN_COUNT_H

#include "base/err.h"
#include "run/session.h"

/*
 * Count the instructions of every case of the session's plan whose drive counts (exact), and append
 * the sums, by program. Needs no rounds of loads: a count has no noise, and repeats on one load say
 * whether it is always the same. 0; -EINTR after a signal and other errors midway, with the counts
 * so far. It takes at most `share` of the time until the deadline; a skip names the programs that
 * were not counted within it.
 */
int bb_count_all(struct bb_session *s, double share, struct bb_err *err);

/*
 * How much of each program its runs execute: an input that a program turns away at its first line
 * gives a figure of that line, and nothing in the figure says so. A clone with counters
 * (drivers/exact.h) is run a few times on the input of every case of a drive that fires
 * (case_of[i]: the report's case of the plan's case i, SIZE_MAX: none). A case has no such numbers
 * where its clone does not load, and where a tenth of the time left (base/deadline.h) did not do.
 * 0, or -EINTR after a signal.
 */
int bb_note_executed(struct bb_session *s, const size_t *case_of);

/* Put the measurements of the drives `lines` into the report, when all loads are done. 0 or
 * -ENOMEM. */
int bb_note_lines(struct bb_session *s, struct bb_err *err);

#endif
