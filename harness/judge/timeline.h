/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "stats/history.h"
#include "store/run_index.h"

/* Stored plain runs over time, case by case (docs/methods/history.md). Memory grows with runs times
 * cases, not with samples (run_index.h). */

struct bb_timeline_run {
	const struct bb_index_run *of;
	double epoch_s; /* time of start, seconds since 1970; NAN if unknown */
};

struct bb_timeline_point {
	size_t run;
	const struct bb_run_point *of;
	/* first fingerprint key in which the machine of the case's newest run differs, or NULL */
	const char *differs;
	/* of the logarithm of the case's figure; mark BB_HISTORY_VOID if not judged */
	struct bb_history_point judged;
};

struct bb_timeline_case {
	const struct bb_index_case *of;
	bool is_anchor;
	/* The judged figure: the ratio to the anchor variant or, without one, the latency. Another
	 * figure is judged if its error is clearly smaller (bb_history_error()). */
	enum bb_predictor by;
	/* error of predicting each figure's logarithm; NAN if unknown */
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

/* A member that is NULL or has n = 0 excludes no case. Texts are borrowed. */
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
 * before it. Only complete runs are judged, and only on the machine of the case's newest run.
 *
 * Files that are not readable runs are left out and named to passed_over(), and so are copies. A
 * file is a copy if its name is not the id of its run, and another file has that id as its name.
 * Runs of `compare` and `selftest` are left out silently.
 *
 * The standard error of a median of n values is sqrt(pi/2) s / sqrt(n), s = 1.4826 MAD (asymptotic
 * for normal values: David & Nagaraja 2003, section 10.3).
 *
 * Returns 0, -EINVAL for a bad rule, or -errno if the folder cannot be read.
 */
int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts,
		      struct bb_timeline *ret_timeline, struct bb_err *err);

const char *bb_predictor_name(enum bb_predictor by);

void bb_timeline__done(struct bb_timeline *t);

/* True if the run is complete, and its machine is that of the case's newest run. */
bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p);

/* Returns the figure's difference from its level, as a share: 0.05 is 5 % more. NAN without one. */
double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p);

/* Returns the last judged point, or NULL. */
const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c);

/* Returns the point at which the present level began, or NULL if no change is known. */
const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c);

/* Returns BB_HISTORY_VOID if no point was judged. */
enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c);
