/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/* Counts the executed instructions in every case of the drive `exact`. One load per program is
 * enough, because a count has no noise. Uses at most `share` (0 to 1) of the time until the
 * deadline. Adds skips for programs that were not counted. The report keeps the counts also after
 * an error. */
int bb_count_all(struct bb_session *s, double share, struct bb_err *err);

/* Stores how much of each program its runs execute. The share is small if the program rejects
 * its input early. A clone with counters (drivers/exact.h) runs a few times on each case's input.
 * case_of[i] is the report's index of the plan's case i, or SIZE_MAX. Cases whose clone does not
 * load get no numbers. Takes at most a tenth of the time left. Returns 0, or -EINTR after a signal.
 */
int bb_note_executed(struct bb_session *s, const size_t *case_of);

/* Adds the results of the drives `lines` to the report. Call it after all loads. */
void bb_note_lines(struct bb_session *s);
