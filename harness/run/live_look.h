/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"
#include "run/live.h"

/*
 * A look at live programs over time, as a run: "live/PROGRAM/watch", a series for each slice. The
 * latency of a slice is the mean of all runs in it. A program that did not run has no case.
 */
struct bb_live_look {
	struct bb_report *report; /* borrowed */
	uint32_t *ids;            /* ids[i] is the program of report->cases[i] */
	size_t n;
	uint32_t n_slices;
};

/* Adds the rows of a slice. Programs that were unloaded meanwhile have no metrics in the report.
 * Returns 0, or -errno with a message. */
int bb_live_look__add(struct bb_live_look *look, const struct bb_live_row *rows, size_t n,
		      struct bb_err *err);

/* Ends the look: notes which process has each program open. Returns -ENODATA with a message if no
 * program ran. */
int bb_live_look__end(struct bb_live_look *look, struct bb_err *err);
void bb_live_look__done(struct bb_live_look *look);

/*
 * Names the cases and programs of `now` like those of `base` that are the same programs. Programs
 * with the same tag are the same, else those with the same name and type. Of several, those with
 * the same tag and name come first, then those of the same agent, then the first ones. A program
 * that `base` lacks keeps its name, with a number behind it if another program has that name.
 */
void bb_live_look__match(const struct bb_report *base, struct bb_report *now);
