/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/trigger.h"
#include "lines/cut_clone.h"
#include "lines/path.h"

/*
 * The drive `lines`: time by line. In each load, the program is measured together with a clone that
 * can end at each of several points, the cuts (lines/cut_clone.h). The time of a run that ends at a
 * cut, minus the time of a run that ends at the cut before, is the time between the two cuts.
 *
 * At each cut, the clone checks whether the run must end there. A second clone makes each check
 * twice, which gives the time of a check. The drive measures the program, both clones and an empty
 * program in random order. Its samples are runs of the program. bb_lines__of() returns all other
 * results.
 */

/* the most samples of a burst, which is a number of successive runs of one program */
#define BB_LINES_BURST 20u
#define BB_LINES_WARMUP 2u /* runs at the beginning of a burst that give no sample */

/* The cuts of a program. They are found once, with the verifier's help, and used in all loads. */
struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	/* parts.cuts stays for all loads. All other members are of one load, and are valid between
	 * bb_lines_plan__read() and bb_lines_plan__forget(). */
	struct bb_cut_parts parts;
	uint32_t points; /* number of points at which the program could be cut */
	/* why there are fewer cuts than points; "" if there are as many */
	char thinned_why[300];
	uint32_t refused;      /* number of cuts that the verifier refuses */
	char refused_why[300]; /* what the verifier says about the first refused cut */
	/* true if runs remove entries from maps. Then a whole run, which restores the maps, comes
	 * before each run that ends early. */
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

/* The items of a sweep, which measures one burst of each. After the program and the empty program
 * come the clone at each measured position, the clone with a bare exit path at the first and the
 * last position, and the clone with doubled checks at some positions. */
enum { BB_LINES_ITEM_PROGRAM, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_FIRST_CUT };

struct bb_lines_item {
	enum bb_lines_thing thing;
	uint32_t position; /* index of a cut on the path; path->n if runs go to their end */
	bool is_bare;      /* runs end by a bare exit path (lines/cut_clone.h) */
};

/* v[sweep]: mean of a burst, ns; NAN if it has no samples */
struct bb_lines_means {
	double *v;
	size_t n;
};

struct bb_lines_case {
	uint32_t param;
	struct bb_line_path path;
	struct bb_lines_item *items;
	uint32_t n_items, first_bare, first_doubled;
	/* means[load * n_items + item] */
	struct bb_lines_means *means;
	uint32_t n_loads;
	bool is_cold;
	/* number of runs that should have ended at the last cut, and how many of them did not */
	uint64_t runs, other_paths;
	/* number of sweeps, and how many of them do not count because the program was slow */
	uint64_t sweeps, disturbed;
	/* bb_lines__of() allocates `ns` and `results`: */
	double *ns; /* [load * n_items + item]: time of the item, ns */
	double *results;
};

struct bb_lines_variant {
	const struct bb_variant_spec *spec;
	struct bb_lines_plan plan;
	struct bb_lines_case *cases; /* NULL if they are not planned yet */
	size_t n_cases;
};

/* The results for one program at one parameter, owned by the drive's state. */
struct bb_lines {
	const struct bb_lines_plan *plan;
	const struct bb_lines_case *of;
	/* [n_loads]: time of a run of the program and of the empty program, ns; NAN if unknown */
	const double *program_ns, *empty_ns;
	/* [n_loads]: time of the exit path, ns. The rows contain it, but the program's total time
	 * does not, because there the CPU executes the exit path at the same time as other
	 * instructions. 0 if rest_ns has the difference between rows and total time. */
	const double *hidden_ns;
	/* [load * path.n_rows + row]: time of a row in a load, ns. first_ns has only the part of
	 * the row that comes first on the path. In a loop, this is the first iteration. */
	const double *rows_ns, *first_ns;
	/* [n_loads]: time that runs on other paths add to the mean time of the program, ns. With
	 * cold caches, it is all the time of the program that is not in the rows. */
	const double *rest_ns;
	/* time of one check, ns; the times of the rows do not contain the checks */
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
	/* the present burst, in memory shared with the child process */
	struct bb_lines_burst *burst;
	struct bb_shared_memory memory;
	/* allocated one by one, because slots point to them */
	struct bb_lines_variant **variants;
	size_t n_variants;
};

struct bb_lines_loaded {
	int prog_fd; /* -1 if not loaded */
	struct bb_stats_reader reader;
	struct bb_attached *attached;
};

struct bb_lines_slot {
	struct bb_drive_slot common;
	/* NULL for the floor (the empty program), which is not cut */
	struct bb_lines_variant *variant;
	uint32_t load;
	struct bb_lines_loaded things[BB_LINES_N_THINGS];
};

struct bb_lines_burst {
	const struct bb_lines_state *state;
	const struct bb_lines_loaded *thing;
	/* position on the path at which runs end early; UINT64_MAX if runs go to their end */
	uint64_t nth;
	/* cut at which runs must end; -1 means at none, -2 means anywhere */
	int64_t ends_at;
	bool is_bare;
	/* before each run that ends at a cut, a whole run restores the maps */
	bool restores;
	bool is_restoring;
	size_t warmed;
	uint64_t other_paths;
	struct bb_prog_stats last;
	struct bb_batch batch; /* the caller sets want, warmup and drain_each_run */
	uint64_t ns[BB_LINES_BURST];
};

/* lines.c: fires a copy of `burst` in s->burst, which receives the results. Returns 0 or -errno. */
int bb_lines_burst__fire(const struct bb_lines_state *s, const struct bb_lines_burst *burst,
			 uint32_t param, struct bb_err *err);

/* lines.c: bb_lines_slot__load() attaches the program, and loads and attaches its clones and the
 * empty program. bb_lines_slot__unload() detaches one of these, and unloads it if it is not the
 * program. */
int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err);
int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing);

/* lines_plan.c: bb_lines_plan__read() reads and analyses the code of the target's current load. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);
void bb_lines_plan__done(struct bb_lines_plan *p);

/* lines_plan.c: bb_lines_variant__plan() also loads all programs of the slot. */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_variant__done(struct bb_lines_variant *v);

/* lines.c: return NULL if there is no such variant or case. */
struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec);
struct bb_lines_case *bb_lines_variant__case(struct bb_lines_variant *v, uint32_t param);
