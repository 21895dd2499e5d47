/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "core/line_figures.h"
#include "drivers/trigger.h"
#include "lines/cut_clone.h"
#include "lines/path.h"

/*
 * The drive `lines` finds out how the time of a run is divided among the lines of the program. In
 * each load, it measures the program together with a clone that can end at each of several points,
 * the cuts (lines/cut_clone.h). The time between two successive cuts is a difference: the time of a
 * run that ends at the second cut, minus the time of a run that ends at the first cut.
 *
 * At each cut, the clone checks whether the run must end there. A second clone makes each check
 * twice, which shows how long a check takes. The drive measures the program, both clones and an
 * empty program in random order. Its samples are the times of runs of the program. bb_lines__of()
 * returns all other results.
 */

/* A burst is a series of successive runs of one program. It has at most this many samples. */
#define BB_LINES_BURST 20u
#define BB_LINES_WARMUP 2u /* number of runs at the beginning of a burst; they give no sample */

/* The cuts of a program. The drive finds them once, with the verifier's help, and uses them in all
 * loads. */
struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	/* parts.cuts is the same in all loads. All other members of `parts` belong to one load.
	 * They are valid between bb_lines_plan__read() and bb_lines_plan__forget(). */
	struct bb_cut_parts parts;
	uint32_t points; /* number of points at which the program could be cut */
	/* why there are fewer cuts than points; "" if each point is a cut */
	char thinned_why[300];
	uint32_t refused;      /* number of cuts that the verifier refuses */
	char refused_why[300]; /* what the verifier says about the first refused cut */
	/* True if the program calls a helper that removes something from a map. A run that ends
	 * early may not reach this call. It then leaves the map in an unusual state. So a run to
	 * the end, which leaves the map as usual, comes before each run that ends early. */
	bool removes;
};

/* The programs that are measured in turn, and the logger. The logger is a clone that only logs the
 * path of a run. */
enum bb_lines_thing {
	BB_LINES_PROGRAM,
	BB_LINES_CLONE,
	BB_LINES_DOUBLED_CLONE,
	BB_LINES_EMPTY,
	BB_LINES_LOGGER,
	BB_LINES_N_THINGS,
};

/* A sweep measures one burst of each item. The list of items begins with the program and the empty
 * program. Then come: the clone that ends at each measured position; the clone with a bare exit
 * path at the first and at the last measured position; the clone with doubled checks at some
 * positions. */
enum { BB_LINES_ITEM_PROGRAM, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_FIRST_CUT };

struct bb_lines_item {
	enum bb_lines_thing thing;
	/* runs end at cut path.cuts[position]; path.n if runs go to their end */
	uint32_t position;
	bool is_bare; /* true if runs end by a bare exit path (lines/cut_clone.h) */
};

/* v[sweep]: mean time of a run in the sweep's burst, ns; NAN if the burst has no samples */
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
	/* Numbers of runs that should have ended at the last measured cut: `runs` ended there, and
	 * `other_paths` did not. */
	uint64_t runs, other_paths;
	/* number of sweeps, and number of those that do not count because the program was slow */
	uint64_t sweeps, disturbed;
	/* ns[load * n_items + item]: time of a run, ns; bb_lines__of() allocates it */
	double *ns;
};

struct bb_lines_variant {
	const struct bb_variant_spec *spec;
	struct bb_lines_plan plan;
	struct bb_lines_case *cases; /* NULL if they are not planned yet */
	size_t n_cases;
};

/* Fills *ret_timed with the results of a variant at one parameter, without the names of the case.
 * Returns 0, or -ENOENT if nothing was measured. The caller owns the texts and numbers in it. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_timed *ret_timed);

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
	/* NULL for the floor (the empty program), because the drive does not divide its time */
	struct bb_lines_variant *variant;
	uint32_t load;
	struct bb_lines_loaded things[BB_LINES_N_THINGS];
};

struct bb_lines_burst {
	const struct bb_lines_state *state;
	const struct bb_lines_loaded *thing;
	/* position on the path at which runs end early; UINT64_MAX if runs go to their end */
	uint64_t nth;
	/* cut at which runs should end; -1: they should go to their end; -2: not checked */
	int64_t ends_at;
	bool is_bare;
	/* true if a run to the end comes before each run that ends early (bb_lines_plan.removes) */
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

/* lines.c: bb_lines_slot__load() attaches the program. It also loads and attaches the clones,
 * without the logger, and the empty program. bb_lines_slot__unload() detaches one of these, and
 * unloads it if it is not the program. */
int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err);
int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing);

/* lines_plan.c: bb_lines_plan__read() reads and analyses the code of the target's current load. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);

/* lines_plan.c: bb_lines_variant__plan() finds the variant's cuts and paths. It also loads all
 * programs of the slot except the logger. */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_variant__done(struct bb_lines_variant *v);

/* lines.c: returns NULL if there is no such variant. */
struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec);
