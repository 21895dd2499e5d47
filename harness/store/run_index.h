/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_STORE_RUN_INDEX_H
#define BB_STORE_RUN_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "env/fingerprint.h"
#include "store/run_points.h"

/*
 * The stored runs of a folder as their history needs them: without samples, a point a case. Reading
 * a run takes some ms, so its points are kept in the folder as history.db (history_db.h). That is a
 * cache and never the truth: a run is taken from it while its file has the name, size and time of
 * change that it had, and read anew else; runs that are no longer stored are left out; and an index
 * that is missing, damaged or another bpfbench's is as good as an empty one.
 */

/* A text: where it begins in `texts`. 0: there is none. */
typedef uint32_t bb_text_at;

struct bb_index_run {
	bb_text_at name; /* of its file, without .json */
	bb_text_at id, started, incomplete, commit;
	uint32_t machine;       /* index */
	uint32_t is_comparison; /* 0 or 1: 1 has no points */
	uint32_t n_points;
	uint64_t first_point; /* index */
	uint64_t size_bytes;  /* of the file */
	int64_t changed_ns;   /* mtime since 1970; BB_INDEX_READ_ANEW: not to be relied on */
};
#define BB_INDEX_READ_ANEW INT64_MIN

struct bb_index_case {
	bb_text_at name, scenario, variant, drive, param;
	uint32_t param_value;
};

struct bb_run_index {
	struct bb_index_run *runs;   /* by name */
	struct bb_run_point *points; /* `what` is an index of cases */
	/* in the order in which the runs have them; no two of one name */
	struct bb_index_case *cases;
	/* runs with the same identity share one, that of the first */
	struct bb_fingerprint *machines;
	char *texts;
	size_t n_runs, n_points, n_cases, n_machines, n_texts;
	size_t size_texts; /* room in texts */
};

/*
 * Index the runs in `dir`, and keep the index there where that can be done. A file that cannot be
 * read as a run is left out with a word to passed_over (may be NULL), each time. 0, -ENOMEM,
 * -EINTR after a stop signal, or -errno when the folder cannot be read.
 */
int bb_run_index__read(const char *dir, void (*passed_over)(void *arg, const char *why), void *arg,
		       struct bb_run_index *ret_index, struct bb_err *err);
void bb_run_index__done(struct bb_run_index *x);

/* Keep a copy of a text; NULL: none. 0 or -ENOMEM. */
int bb_run_index__add_text(struct bb_run_index *x, const char *text, bb_text_at *ret_at);

/* The run of that name (of file); NULL when there is none. */
const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name);

static inline const char *bb_index_text(const struct bb_run_index *x, bb_text_at at)
{
	return at ? x->texts + at : NULL;
}

#endif
