/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"
#include "run/live.h"

/* A look: live programs that were watched over time, in the form of a run. Its cases are
 * "live/PROGRAM/watch", with a series for each slice. The latency of a slice is the mean of all
 * runs in it. A program that did not run has no case. */
struct bb_live_look {
	struct bb_report *report; /* borrowed */
	uint32_t *ids;            /* ids[n]: ids[i] is the id of the program of report->cases[i] */
	size_t n;
	uint32_t n_slices;
};

/* Adds the rows of a slice. Programs that have been unloaded get no static metrics in the report.
 * Returns 0, or -errno with a message. */
int bb_live_look__add(struct bb_live_look *look, const struct bb_live_row *rows, size_t n,
		      struct bb_err *err);

/* Ends the look. Stores in the report, for each program, the name of a process that has it open.
 * Returns -ENODATA with a message if no program ran. */
int bb_live_look__end(struct bb_live_look *look, struct bb_err *err);
void bb_live_look__done(struct bb_live_look *look);

/*
 * Gives the programs of `now`, and their cases, the names that the same programs have in `base`.
 * Two programs are the same if they have the same tag, or the same name and type. If several pairs
 * are possible, prefers the same tag and name, then the same tag, then the same name and type.
 * Among equals, prefers programs that the same process has open, and then the first in the report.
 * A program that is not in `base` keeps its name, followed by a number if another program has this
 * name.
 */
void bb_live_look__match(const struct bb_report *base, struct bb_report *now);
