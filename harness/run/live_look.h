/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"
#include "run/live.h"

/* A report about live programs (loaded by others) that were watched over time. It has a case
 * "live/PROGRAM/watch" for each program that ran, with a series for each slice of time. The latency
 * of a slice is the mean of all runs in it. */
struct bb_live_look {
	struct bb_report *report; /* borrowed */
	uint32_t *ids;            /* ids[i] is the program id of report->cases[i] */
	size_t n;
	uint32_t n_slices;
};

/* Adds the rows of a slice. Programs that are already unloaded get no static metrics. */
int bb_live_look__add(struct bb_live_look *look, const struct bb_live_row *rows, size_t n,
		      struct bb_err *err);

/* Stores for each program a process that has it open. Returns -ENODATA if no program ran. */
int bb_live_look__end(struct bb_live_look *look, struct bb_err *err);
void bb_live_look__done(struct bb_live_look *look);

/* Gives the programs of `now` the names that they have in `base`. The same tag, or the same name
 * and type, mean the same program. Prefers the same tag and name, then the tag, then the name and
 * type, then programs that the same process has open, then the first. A program that `base` lacks
 * keeps its name, with a number if the name is taken. */
void bb_live_look__match(const struct bb_report *base, struct bb_report *now);
