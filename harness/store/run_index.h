/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* The figures by which runs at different times are compared. judge/timeline.h chooses the best of
 * the three for each case. */
enum bb_predictor { BB_BY_LATENCY, BB_BY_RATIO, BB_BY_RELATIVE, BB_N_PREDICTORS };

/*
 * A point of the history: a case of a run, reduced to its three figures (enum bb_predictor).
 * BB_BY_LATENCY is the latency, ns. BB_BY_RATIO is the latency divided by that of the anchor in the
 * same run (NAN without anchor). BB_BY_RELATIVE is the latency divided by the time of the reference
 * (NAN if the reference was not measured). The two ratios are computed round by round, because a
 * disturbance in a round changes both the latency and its divisor.
 */
struct bb_run_point {
	struct bb_estimate figure[BB_N_PREDICTORS]; /* medians or stratified means over loads */
	double se[BB_N_PREDICTORS]; /* standard error of ln(figure); NAN with fewer than 2 loads */
	uint32_t loads, voids;      /* numbers of valid and of void series */
	uint32_t is_anchor;         /* 1: the case is the anchor of its table; else 0 */
	uint32_t what, run; /* indexes of the case and of the run in the struct bb_run_index */
};

/* Makes the point of r->cases[i], with `what` and `run` set to 0. */
void bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point);

/*
 * A stored run in an index. An index (struct bb_run_index) has the stored runs of a folder, reduced
 * to one point per case. It is kept in the folder as history.db, because reading a run takes some
 * ms. That file is only a cache: a run is taken from it if the run's file still has the same name,
 * size and time of change, and is read again otherwise. Runs whose files are gone are dropped. A
 * missing, damaged or foreign cache counts as an empty one.
 */
struct bb_index_run {
	const char *name; /* name of the file, without .json */
	const char *id, *commit;
	const char *started;    /* time in UTC; NULL: unknown */
	const char *incomplete; /* why the run ended early; NULL: it is complete */
	uint32_t machine;       /* index in bb_run_index.machines */
	uint32_t is_comparison; /* 1: the run is a comparison and has no points; else 0 */
	uint32_t n_points;
	uint64_t first_point; /* index of the run's first point in bb_run_index.points */
	uint64_t size_bytes;  /* size of the file */
	/* mtime of the file, ns since 1970. BB_INDEX_READ_ANEW: the next call reads the file again,
	 * because the file may have changed again with the same mtime. */
	int64_t changed_ns;
};
#define BB_INDEX_READ_ANEW INT64_MIN

struct bb_index_case {
	const char *name, *scenario, *variant, *drive;
	const char *param; /* name of the parameter; NULL: the drive has no parameter */
	uint32_t param_value;
};

struct bb_run_index {
	struct bb_index_run *runs;   /* sorted by name */
	struct bb_run_point *points; /* points of one run are adjacent */
	/* cases of all runs, in the order in which the runs first have them; each name occurs once
	 */
	struct bb_index_case *cases;
	/* the distinct machines of all runs */
	struct bb_fingerprint *machines;
	char **texts; /* all texts that the other structs point to; owned */
	size_t n_runs, n_points, n_cases, n_machines, n_texts;
};

/* Reads the index of the runs in `dir`, brings it up to date, and stores it in `dir` if possible.
 * Skips each file that is not a readable run, and calls passed_over() (may be NULL) with the
 * reason. Returns 0, -EINTR after a signal, or -errno if the folder cannot be read. */
int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err);
void bb_run_index__done(struct bb_run_index *x);

/* Replaces `*text` by a copy that the index owns. A NULL stays NULL. */
void bb_run_index__own_text(struct bb_run_index *x, const char **text);

/* Returns the run whose file has that name, without .json; NULL if there is none. */
const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name);

/*
 * An index as a file: an ordinary SQLite database that users may query. A new file replaces the old
 * file as a whole. So a reader never sees half an update, of two writers at once only one loses its
 * work, and on a full disk the old file stays. 10 000 runs of 24 cases take 22 MB.
 *
 * The folder may belong to another user, or be a checkout of an untrusted branch. So SQLite does
 * not open the file; we read it into memory. SQLite would also read a journal beside the file, and
 * a forged journal can name any file of the caller, which SQLite would delete (pager_delsuper() in
 * its pager.c). We accept a database only if its version and schema equal ours, and no value is
 * outside the range of its column. So a forged database can do no more than give wrong points for a
 * run, and for that it must know the size and the time of change of the run's file.
 */
#define BB_HISTORY_DB "history.db"

/* Version of the database. Raise it when a table changes, or when the points that a run has in
 * `history` are computed in another way (then test_run_index.c fails). */
#define BB_HISTORY_DB_VERSION 5u

/* Reads the index from dir/history.db. The index is empty if there is no valid file. */
void bb_history_db__load(const char *dir, struct bb_run_index *ret_index);

/* Reads the index from data[len], a history.db. Returns 0, or -EINVAL and an empty index. */
int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index);

/* Writes the index to dir/history.db, whole or not at all. Returns 0 or -errno; after an error
 * the old file is still there. */
int bb_history_db__save(const char *dir, const struct bb_run_index *x);
