/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* The figures by which runs at different times are compared. judge/timeline.h chooses one of them
 * for each case. */
enum bb_predictor { BB_BY_LATENCY, BB_BY_RATIO, BB_BY_RELATIVE, BB_N_PREDICTORS };

/* A case of a stored run, reduced to three figures. BB_BY_LATENCY is the latency, ns. BB_BY_RATIO
 * is the latency divided by the latency of the anchor, a variant that the scenario chooses.
 * BB_BY_RELATIVE is the latency divided by the time of the reference, a fixed piece of work. A
 * ratio is NAN if its divisor was not measured. Ratios are computed round by round, because a
 * disturbance in a round changes both the latency and the divisor. */
struct bb_run_point {
	struct bb_estimate figure[BB_N_PREDICTORS]; /* medians or stratified means over loads */
	double se[BB_N_PREDICTORS]; /* standard error of ln(figure); NAN with fewer than 2 loads */
	uint32_t loads, voids;      /* numbers of valid and of void series */
	bool is_anchor;             /* true if the case is the anchor */
	uint32_t what, run; /* indexes of the case and of the run in the struct bb_run_index */
};

/* Makes the point of r->cases[i], with `what` and `run` set to 0. */
void bb_run_point__make(const struct bb_report *r, size_t i, struct bb_run_point *ret_point);

/* A stored run in an index. An index has the runs of a folder. The file history.db in the folder
 * caches it, because reading a run takes some ms. A run is taken from this file if its own file
 * still has the same name, size and time of change. A missing or invalid history.db counts as
 * empty. */
struct bb_index_run {
	char *name; /* name of the file, without .json */
	char *id, *commit;
	char *started;      /* in UTC; NULL if unknown */
	char *incomplete;   /* why the run ended early; NULL if it is complete */
	uint32_t machine;   /* index in bb_run_index.machines */
	bool is_comparison; /* true if the run is a comparison, which has no points */
	uint32_t n_points;
	uint64_t first_point; /* index in bb_run_index.points */
	uint64_t size_bytes;
	/* mtime of the file, ns since 1970, or BB_INDEX_READ_ANEW. That makes the next call read
	 * the file again, because the file may change once more with the same mtime, or because
	 * the mtime is at or before 1970-01-01 00:00 UTC. */
	uint64_t changed_ns;
};
#define BB_INDEX_READ_ANEW 0

struct bb_index_case {
	char *name, *scenario, *variant, *drive;
	char *param; /* NULL if the drive has no parameter */
	uint32_t param_value;
};

/* The index owns its arrays, and their items own their texts. */
struct bb_run_index {
	struct bb_index_run *runs;   /* sorted by name */
	struct bb_run_point *points; /* points of one run are adjacent */
	/* the cases of all runs, in which each name occurs once */
	struct bb_index_case *cases;
	struct bb_fingerprint *machines;
	size_t n_runs, n_points, n_cases, n_machines;
};

/* Descriptions of these structs, with a row for each member that history.db has. */
extern const struct bb_record bb_run_index_record, bb_index_run_record, bb_index_case_record;

/* Reads the index of the runs in `dir`, brings it up to date, and stores it there if possible.
 * Skips a file that is not a readable run, and calls passed_over() (may be NULL) with the reason.
 * Returns 0, -EINTR after a signal, or -errno if the folder cannot be read. */
int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err);
void bb_run_index__done(struct bb_run_index *x);

/* `name` is the name of the run's file, without .json. Returns NULL if there is no such run. */
const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name);

/* history.db is an ordinary SQLite database that users may query. A new file replaces the old file
 * as a whole, so no reader sees half an update. The file may come from an untrusted branch. SQLite
 * must not open it, because a forged journal beside it could make SQLite delete any file of the
 * caller (pager_delsuper() in SQLite's pager.c). So we read the file into memory, and accept it
 * only if its version, its schema and all values are valid. A forged database can then only give
 * wrong points for a run. */
#define BB_HISTORY_DB "history.db"

/* Raise the version when a table changes, or when the points of a run are computed in another way
 * (then test_run_index.c fails). */
#define BB_HISTORY_DB_VERSION 5u

/* Reads the index from dir/history.db. The index is empty if there is no valid file. */
void bb_history_db__load(const char *dir, struct bb_run_index *ret_index);

/* Reads the index from data[len], a history.db. Returns 0, or -EINVAL and an empty index. */
int bb_history_db__parse(void *data, size_t len, struct bb_run_index *ret_index);

/* Writes the index to dir/history.db. Returns 0, or -errno and keeps the old file. */
int bb_history_db__save(const char *dir, const struct bb_run_index *x);
