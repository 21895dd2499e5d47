/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/trigger.h"
#include "lines/cut_clone.h"
#include "lines/path.h"

/*
 * Time by line. In each load, the program is measured together with a clone that can end at each
 * cut (lines/cut_clone.h). The time of a run that ends at a cut, minus the time of a run that ends
 * at the cut before, is the time between the two cuts.
 *
 * At each cut, the clone checks whether the run must end there. The drive measures in random order:
 * the program, the clone that ends at each cut, a clone that makes each check twice, and an empty
 * program. The samples of the drive are runs of the program itself, as with the drive `step`.
 * bb_lines__of() returns all other results when all loads are done.
 */

/* Most samples of a burst, which is a number of successive runs of one program. */
#define BB_LINES_BURST 20u
#define BB_LINES_WARMUP 2u /* runs at the beginning of a burst that give no sample */

/* The cuts at which a clone of a program may end. They are found once, with the verifier's help,
 * and used in all loads. */
struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	/* its cuts stay, and all else is of the present load: it is valid between
	 * bb_lines_plan__read() and bb_lines_plan__forget() */
	struct bb_cut_parts parts;
	uint32_t points; /* number of points at which the program could be cut */
	/* reason for having fewer cuts than points; "" if there is a cut at every point */
	char thinned_why[300];
	uint32_t refused;      /* number of cuts that the verifier refuses */
	char refused_why[300]; /* what the verifier says about the first refused cut */
	/* true: runs remove entries from maps. A run that ends early may leave such entries, so
	 * bursts of runs that end early also restore the maps. */
	bool removes;
};

/* The programs that take turns, and the logger: a clone that only finds the path of a run. */
enum bb_lines_thing {
	BB_LINES_PROGRAM,
	BB_LINES_CLONE,
	BB_LINES_DOUBLED_CLONE,
	BB_LINES_EMPTY,
	BB_LINES_LOGGER,
	BB_LINES_N_THINGS,
};

/* The items of a sweep: the program, the empty program, the clone at each measured position, the
 * clone at the first and the last measured position with a bare exit path, and the doubled clone at
 * some positions. */
enum { BB_LINES_ITEM_PROGRAM, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_FIRST_CUT };

struct bb_lines_item {
	enum bb_lines_thing thing;
	uint32_t position; /* index of the cut on the path; path->n: runs go to the end */
	bool is_bare;      /* runs end by a bare exit path (lines/cut_clone.h) */
};

/* v[sweep]: mean of a burst, ns; NAN: the burst has no samples */
struct bb_lines_means {
	double *v;
	size_t n;
};

/* A variant at one parameter or input. */
struct bb_lines_case {
	uint32_t param;
	struct bb_line_path path;
	struct bb_lines_item *items;
	uint32_t n_items, first_bare, first_doubled;
	/* means[load * n_items + item]: means of an item's bursts in a load */
	struct bb_lines_means *means;
	uint32_t n_loads;
	bool is_cold; /* caches are emptied before each run */
	/* runs: number of runs that should end at the last cut; other_paths: of these, the runs
	 * that did not end there */
	uint64_t runs, other_paths;
	/* sweeps: number of sweeps in all loads, in each of which every item had one burst;
	 * disturbed: of these, the sweeps left out because the program was slower than usual */
	uint64_t sweeps, disturbed;
	/* bb_lines__of() allocates `ns` and `results`: */
	double *ns;      /* [load * n_items + item]: time of the item, ns */
	double *results; /* the times that bb_lines__of() returns */
};

struct bb_lines_variant {
	const struct bb_variant_spec *spec;
	struct bb_lines_plan plan;
	struct bb_lines_case *cases; /* NULL: they are not planned yet */
	size_t n_cases;
};

/* The results for one program at one parameter. The drive's state owns them. */
struct bb_lines {
	const struct bb_lines_plan *plan;
	const struct bb_lines_case *of;
	/* program_ns[n_loads], empty_ns[n_loads]: time of a run of the program and of the empty
	 * program in each load, ns; NAN: not measured */
	const double *program_ns, *empty_ns;
	/* hidden_ns[n_loads]: time of the exit path, ns, that is in the rows but not in the
	 * program's total time. In the program, the CPU executes the exit path at the same time as
	 * other instructions. 0 if rest_ns has the difference between rows and total time. */
	const double *hidden_ns;
	/* rows_ns[load * path.n_rows + row]: time of a row in a load, ns. first_ns[] has only the
	 * time of that part of the row which comes first on the path, in a loop the first iteration
	 */
	const double *rows_ns, *first_ns;
	/* rest_ns[n_loads]: time that runs on other paths add to the mean time of the program, ns;
	 * 0 if no run takes another path. With cold caches, it is the whole difference between the
	 * time of the program and its rows. */
	const double *rest_ns;
	/* time of one check of the clone, ns; the times of the rows do not contain the checks */
	double check_ns;
};

/* Fills *ret_lines with the results of a variant at one parameter. Returns 0, or -ENOENT if nothing
 * was measured. The results are valid until the next call. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_lines *ret_lines);

/* All that follows is for the files of the drive: lines.c (the drive, its loads and bursts),
 * lines_plan.c (cuts and paths) and lines_results.c. */

struct bb_lines_state {
	struct bb_drive_state common;
	/* the present burst, in memory that the child process shares */
	struct bb_lines_burst *burst;
	struct bb_shared_memory memory;
	/* variants[n_variants], allocated one by one, because slots point to them */
	struct bb_lines_variant **variants;
	size_t n_variants;
};

/* One load of one of the programs in enum bb_lines_thing. */
struct bb_lines_loaded {
	int prog_fd; /* -1: not loaded */
	struct bb_stats_reader reader;
	/* the program, attached to the trigger; NULL: it is not attached */
	struct bb_attached *attached;
};

struct bb_lines_slot {
	struct bb_drive_slot common;
	struct bb_lines_variant *variant; /* NULL: the slot is of the floor, which is not cut */
	uint32_t load;
	struct bb_lines_loaded things[BB_LINES_N_THINGS];
};

/* One burst: a few runs of one program, fired one after another. */
struct bb_lines_burst {
	const struct bb_lines_state *state;
	const struct bb_lines_loaded *thing;
	/* position on the path at which runs end early; UINT64_MAX: runs go to their end */
	uint64_t nth;
	/* cut at which runs must end; -1: runs must not end at a cut; -2: runs may end anywhere */
	int64_t ends_at;
	bool is_bare; /* runs end by a bare exit path (lines/cut_clone.h) */
	/* before each run that ends at a cut, the program runs once to its end, so that the maps
	 * are as a whole run leaves them */
	bool restores;
	bool is_restoring;
	size_t warmed; /* runs made for the warm-up */
	uint64_t other_paths;
	struct bb_prog_stats last;
	struct bb_batch batch; /* the caller sets want, warmup and drain_each_run */
	uint64_t ns[BB_LINES_BURST];
};

/* lines.c: copies `burst` to s->burst, fires that copy, and leaves the results in it. Returns 0 or
 * -errno. */
int bb_lines_burst__fire(const struct bb_lines_state *s, const struct bb_lines_burst *burst,
			 uint32_t param, struct bb_err *err);

/* lines.c: bb_lines_slot__load() attaches the program; it loads and attaches the clones of this
 * load and the empty program. bb_lines_slot__load_logger() loads and attaches the logger.
 * bb_lines_slot__unload() detaches one of these programs, and unloads it if it is a clone or the
 * empty program. */
int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err);
int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing);

/* lines_plan.c: bb_lines_plan__read() reads the code of the target's current load, and finds out
 * for each instruction which registers are in use and which resources are held.
 * bb_lines_plan__forget() frees the code and these results. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);
void bb_lines_plan__done(struct bb_lines_plan *p);

/* lines_plan.c: bb_lines_variant__plan() finds the cuts, the paths through them and the items to
 * measure, and loads all programs of the slot. bb_lines_variant__done() frees the cases. */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_variant__done(struct bb_lines_variant *v);

/* lines.c: find the entry of a variant, and its case at a parameter; NULL if there is none. */
struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec);
struct bb_lines_case *bb_lines_variant__case(struct bb_lines_variant *v, uint32_t param);
