/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/*
 * Counts the instructions of every case of the drive exact, and appends the counts to the report,
 * sorted by program. One load is enough because a count has no noise. Repeated runs show whether
 * the count is always the same. Takes at most `share` (0 to 1) of the time until the deadline. Adds
 * skips to the report that name the programs that were not counted. Returns 0, -EINTR after a
 * signal, or -errno; the report has the counts so far also after an error.
 */
int bb_count_all(struct bb_session *s, double share, struct bb_err *err);

/*
 * Stores in the report how much of each program its runs execute. This shows if a program rejects
 * its input early; its latency is then that of the rejection only. For each drive that fires, a
 * clone with counters (drivers/exact.h) runs a few times on each case's input. case_of[i] is the
 * index in the report of case i of the plan, or SIZE_MAX if the report does not have the case. A
 * case gets no numbers if its clone does not load, or if a tenth of the time left (base/deadline.h)
 * is too short for the runs of all clones. Returns 0, or -EINTR after a signal.
 */
int bb_note_executed(struct bb_session *s, const size_t *case_of);

/* Adds the measurements of the drives `lines` to the report. Call it after all loads were
 * measured. */
void bb_note_lines(struct bb_session *s);
