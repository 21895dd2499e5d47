/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_TIMELINE_H
#define BB_JUDGE_TIMELINE_H

#include "base/err.h"
#include "base/grow.h"
#include "base/std.h"
#include "stats/history.h"
#include "store/run_index.h"

/*
 * Stored plain runs over time, case by case (docs/methods/history.md). Memory goes by
 * runs times cases and never by samples (run_index.h).
 */

struct bb_timeline_run {
	const struct bb_index_run *of;
	const char *id;
	const char *started;    /* "2026-11-21T13:17:00Z"; NULL unknown */
	const char *incomplete; /* why it stopped early; NULL: it is whole */
	const char *commit;
	double epoch_s; /* `started` in seconds since 1970; NAN unknown */
};

struct bb_timeline_point {
	size_t run; /* index */
	const struct bb_run_point *of;
	/* fingerprint key by which the run's machine is another than now; NULL */
	const char *differs;
	struct bb_history_point judged; /* in ln of the judged figure; void: not judged */
};

struct bb_timeline_case {
	const char *name, *scenario, *variant, *drive;
	const char *param; /* NULL: none */
	uint32_t param_value;
	bool is_anchor;
	/* judged is the figure that has predicted itself best (bb_history_error()): the ratio to
	 * the anchor, or the latency where there is none, unless another does better by a tenth */
	enum bb_predictor by;
	double error[BB_N_PREDICTORS];    /* of ln; NAN: not known */
	struct bb_timeline_point *points; /* in the order of time; one at the least */
	size_t n_points;
};

struct bb_timeline {
	struct bb_run_index index;    /* owns everything that the rest points to */
	struct bb_timeline_run *runs; /* by start, then id */
	size_t n_runs;
	struct bb_timeline_case *cases; /* in the order in which the runs have them */
	size_t n_cases;
};

/* The cases to take; NULL or n = 0: all. Strings are the caller's. */
struct bb_timeline_filter {
	const char *scenario;
	struct bb_strings variants, drives;
};

struct bb_timeline_opts {
	struct bb_timeline_filter filter;
	struct bb_history_rule rule;
	/* a line for each file left out; may be NULL */
	void (*passed_over)(void *arg, const char *why);
	void *arg;
};

/*
 * Read all runs of `dir`. Files that cannot be read as runs, copies of a run that is there under
 * its own id, and runs of `compare` and `selftest` are passed over, the first two with a word.
 * Judged are the whole runs whose fingerprint has the identity of the newest one of the case, by
 * the r of run_index.h. The standard error of such a median of n values is sqrt(pi/2) s / sqrt(n),
 * s = 1.4826 MAD (asymptotic for normal values: David & Nagaraja 2003, section 10.3). 0; -EINVAL
 * for a bad rule, -ENOMEM, other -errno when the folder cannot be read.
 */
int bb_timeline__read(const char *dir, const struct bb_timeline_opts *opts,
		      struct bb_timeline *ret_timeline, struct bb_err *err);

/* "latency", "ratio", "relative". */
const char *bb_predictor_name(enum bb_predictor by);

/* The judged figure of a point; the latency is in ns. NAN: nothing. */
const struct bb_estimate *bb_timeline__judged(const struct bb_timeline_case *c,
					      const struct bb_timeline_point *p);

void bb_timeline__done(struct bb_timeline *t);

/* How a timeline is read, by tables and by charts alike. */

/* Whether the point took part in the judgement: its run is whole, and of the machine that the
 * newest is of. */
bool bb_timeline__is_judged(const struct bb_timeline *t, const struct bb_timeline_point *p);

/* How far the point is from the baseline that it was judged by: 0.05 is 5 % more. NAN: there was
 * none. */
double bb_timeline__change(const struct bb_timeline_case *c, const struct bb_timeline_point *p);

/* The last point that was judged; NULL: there is none. */
const struct bb_timeline_point *bb_timeline__newest(const struct bb_timeline *t,
						    const struct bb_timeline_case *c);

/* Where the level that the newest point is at began; NULL: nothing is known to have changed. */
const struct bb_timeline_point *bb_timeline__since(const struct bb_timeline_case *c);

/* The mark of the case: that of its newest point. BB_HISTORY_VOID when nothing was judged. */
enum bb_history_mark bb_timeline__mark(const struct bb_timeline *t,
				       const struct bb_timeline_case *c);

/* Is it one to be named: suspect, regressed or improved? */
bool bb_history_is_news(enum bb_history_mark mark);

#endif
