/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/history.h"
#include "store/run_index.h"

/* Stored plain runs over time, case by case (docs/methods/history.md). Memory is proportional to
 * runs times cases, not to samples (run_index.h). */

struct bb_timeline_run {
	const struct bb_index_run *of;
	double epoch_s; /* of->started in seconds since 1970; NAN: unknown */
};

struct bb_timeline_point {
	size_t run; /* index in the timeline's runs */
	const struct bb_run_point *of;
	/* first fingerprint key in which the point's machine differs from the machine of the case's
	 * newest run; NULL: they do not differ */
	const char *differs;
	/* judgement of the logarithm of the case's figure; its mark is BB_HISTORY_VOID if the point
	 * was not judged */
	struct bb_history_point judged;
};

struct bb_timeline_case {
	const struct bb_index_case *of;
	bool is_anchor;
	/*
	 * The judged figure. It is the ratio to the anchor, or the latency if there is no anchor.
	 * Another figure is judged instead if its error (bb_history_error()) is smaller by more
	 * than a tenth, unless the first figure's error is small anyway.
	 */
	enum bb_predictor by;
	/* error of predicting each figure's logarithm; NAN: unknown */
	double error[BB_N_PREDICTORS];
	struct bb_timeline_point *points; /* at least one, in order of time */
	size_t n_points;
};

struct bb_timeline {
	struct bb_run_index index;    /* owns all that the other members point to */
	struct bb_timeline_run *runs; /* sorted by time of start, then by id */
	size_t n_runs;
	struct bb_timeline_case *cases; /* in the order in which the runs have them */
	size_t n_cases;
	size_t window_min; /* a run is judged only if at least this many runs come before it */
};

/* Chooses the cases to read. A member that is NULL or has n = 0 excludes no case. Texts are
 * borrowed. */
struct bb_timeline_filter {
	const char *scenario;
	struct bb_strings variants, drives;
};

struct bb_timeline_opts {
	struct bb_timeline_filter filter;
	struct bb_history_rule rule;
	/* receives a line for each file that is left out; may be NULL */
	void (*passed_over)(void *arg, const char *why);
	void *arg;
};

/*
 * Reads all stored runs in the folder `dir` and judges each case of each run against the runs
 * before it.
 *
 * Two kinds of files are left out and named to passed_over(): files that are not readable runs, and
 * copies. A file is a copy if its name is not the id of its run, and another file has that id as
 * its name. Runs of `compare` and `selftest` are left out silently. Judges only complete runs whose
 * machine has the same identity as the machine of the case's newest run.
 *
 * Uses the figures of run_index.h. The standard error of a median of n values is sqrt(pi/2) s /
 * sqrt(n), s = 1.4826 MAD (asymptotic for normal values: David & Nagaraja 2003, section 10.3).
 *
 * Returns 0, -EINVAL for a bad rule, or -errno if the folder cannot be read.
 */
int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts,
		      struct bb_timeline *ret_timeline, struct bb_err *err);

/* Returns "latency", "ratio" or "relative". */
const char *bb_predictor_name(enum bb_predictor by);

void bb_timeline__done(struct bb_timeline *t);

/* True if the point is to be judged: its run is complete, and its machine has the same identity as
 * the machine of the case's newest run. */
bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p);

/* Returns the difference between the point's figure and the level that it was compared with, as a
 * share: 0.05 is 5 % more. NAN without a level. */
double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p);

/* Returns the last judged point; NULL if there is none. */
const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c);

/* Returns the point at which the present level began; NULL if no change is known. */
const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c);

/* Returns the mark of the newest judged point; BB_HISTORY_VOID if none was judged. */
enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c);
