/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_INDEX_H
#define BB_STORE_RUN_INDEX_H

#include "base/err.h"
#include "base/std.h"
#include "core/metric.h"
#include "env/fingerprint.h"
#include "report/report.h"

/* The figures by which runs of different times can be compared; which of them is the best predictor
 * is decided case by case (judge/timeline.h). */
enum bb_predictor { BB_BY_LATENCY, BB_BY_RATIO, BB_BY_RELATIVE, BB_N_PREDICTORS };

/*
 * A case of a run, reduced to the figures that its history needs, in the order of their enum:
 * latency, ns; its ratio to the anchor of the same run (NAN without one); in pieces of the
 * reference (NAN: it was not measured). The two last are taken round by round, as a disturbance of
 * the one has disturbed the other.
 */
struct bb_run_point {
	struct bb_estimate figure[BB_N_PREDICTORS]; /* over loads */
	double se[BB_N_PREDICTORS];                 /* of its ln; NAN with fewer than 2 loads */
	uint32_t loads, voids;                      /* series that count, and that do not */
	uint32_t is_anchor;                         /* 0 or 1: the others are divided by it */
	uint32_t what, run;                         /* indexes of cases and runs */
};

/* The point of r->cases[i]; `what` and `run` are 0. 0 or -ENOMEM. */
int bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point);

/*
 * The stored runs of a folder as their history needs them: without samples, a point a case. Reading
 * a run takes some ms, so its points are kept in the folder as history.db (history_db.h). That is a
 * cache and never the truth: a run is taken from it while its file has the name, size and time of
 * change that it had, and read anew else; runs that are no longer stored are left out; and an index
 * that is missing, damaged or another bpfbench's is as good as an empty one.
 */
struct bb_index_run {
	const char *name; /* of its file, without .json */
	const char *id, *commit;
	const char *started, *incomplete; /* NULL: not known; it is whole */
	uint32_t machine;                 /* index */
	uint32_t is_comparison;           /* 0 or 1: 1 has no points */
	uint32_t n_points;
	uint64_t first_point; /* index */
	uint64_t size_bytes;  /* of the file */
	int64_t changed_ns;   /* mtime since 1970; BB_INDEX_READ_ANEW: not to be relied on */
};
#define BB_INDEX_READ_ANEW INT64_MIN

struct bb_index_case {
	const char *name, *scenario, *variant, *drive;
	const char *param; /* NULL: the drive has none */
	uint32_t param_value;
};

struct bb_run_index {
	struct bb_index_run *runs;   /* by name */
	struct bb_run_point *points; /* those of a run side by side */
	/* in the order in which the runs have them; no two of one name */
	struct bb_index_case *cases;
	/* runs with the same identity share one, that of the first */
	struct bb_fingerprint *machines;
	char **texts; /* all that the structs point to */
	size_t n_runs, n_points, n_cases, n_machines, n_texts;
};

/*
 * Index the runs in `dir`, and keep the index there where that can be done. A file that cannot be
 * read as a run is left out with a word to passed_over (may be NULL), each time. 0, -ENOMEM,
 * -EINTR after a stop signal, or -errno when the folder cannot be read.
 */
int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err);
void bb_run_index__done(struct bb_run_index *x);

/* Let *text be a copy that the index owns; NULL stays NULL. 0 or -ENOMEM. */
int bb_run_index__own_text(struct bb_run_index *x, const char **text);

/* The run of that name (of file); NULL when there is none. */
const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name);

#endif
