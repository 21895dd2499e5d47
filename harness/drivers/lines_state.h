/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/lines.h"
#include "drivers/trigger.h"

/* Declarations that the files of the drive `lines` share: lines.c (the drive, its loads and
 * bursts), lines_plan.c (cuts and paths) and lines_results.c. */

/* Most samples of a burst. The drive's samples are runs of the program itself: as many as the
 * sweeps over all cuts need. */
#define BB_LINES_BURST 20u
#define BB_LINES_WARMUP 2u /* runs of a burst before its samples */

/* The cuts at which a clone of a program may end. They are found once, with the verifier's help,
 * and used in all loads. */
struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	struct bb_cuts cuts;
	uint32_t points;       /* number of points at which the program could be cut */
	char thinned_why[300]; /* reason for having fewer cuts than points; "": there are as many */
	uint32_t refused;      /* number of cuts that the verifier refuses */
	char refused_why[300]; /* the verifier's words about the first refused cut */
	/* runs remove entries from maps; a run that ends early may leave them there */
	bool removes;
	/* code of the current load; valid between bb_lines_plan__read() and __forget() */
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_registers live;
	struct bb_helds helds;
	uint32_t *stack_bytes;
	int memory_fd;
};

/* The programs that take turns, and the logger, which only finds the path. */
enum bb_lines_thing {
	BB_LINES_PROGRAM,
	BB_LINES_CLONE,
	BB_LINES_DOUBLED_CLONE,
	BB_LINES_EMPTY,
	BB_LINES_LOGGER,
	BB_LINES_N_THINGS,
};

/* The items that are measured in turns: the program, the empty program, the clone at each measured
 * position, the clone at the first and the last measured position with a bare exit path, and the
 * doubled clone at some positions. */
enum { BB_LINES_ITEM_PROGRAM, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_FIRST_CUT };

struct bb_lines_item {
	enum bb_lines_thing thing;
	uint32_t position; /* position on the path; path->n: the run goes to its end */
	bool is_bare;      /* runs end by a bare exit path (lines/cut_clone.h) */
};

/* Means of bursts, by sweep. NAN: the burst has no samples. */
struct bb_lines_means {
	double *v;
	size_t n;
};

/* One parameter, or input, of a variant. */
struct bb_lines_case {
	uint32_t param;
	struct bb_line_path path;
	struct bb_lines_item *items;
	uint32_t n_items, first_bare, first_doubled;
	struct bb_lines_means *means; /* by load and item */
	uint32_t n_loads;
	bool is_cold; /* caches are emptied before each run */
	/* runs: runs that should end at the last cut; other_paths: those of them that did not */
	uint64_t runs, other_paths;
	/* sweeps: how often all items were measured, one burst each, in all loads; disturbed: how
	 * many of these are left out, because the program was slower than usual */
	uint64_t sweeps, disturbed;
	/* bb_lines__of() makes these two: */
	double *ns;      /* by load and item */
	double *results; /* the rows */
};

struct bb_lines_variant {
	const struct bb_variant_spec *spec;
	struct bb_lines_plan plan;
	bool is_planned;
	struct bb_lines_case *cases;
	size_t n_cases;
	uint32_t n_loads;
};

struct bb_lines_state {
	struct bb_drive_state common;
	struct bb_lines_burst
		*burst; /* the present burst; the process that fires it sees this memory */
	struct bb_shared_memory memory;
	struct bb_rng rng;
	struct bb_lines_variant **variants; /* allocated one by one, because slots point to them */
	size_t n_variants;
};

/* One load of one of the programs that take turns. */
struct bb_lines_loaded {
	int prog_fd; /* -1: none */
	bool is_ours;
	struct bb_stats_reader reader;
	struct bb_attached *attached; /* NULL: not attached */
};

struct bb_lines_slot {
	struct bb_drive_slot common;
	struct bb_lines_variant *variant; /* NULL: the floor, which is not cut */
	uint32_t load;
	struct bb_lines_loaded things[BB_LINES_N_THINGS];
};

/* One burst: a few runs of one program, fired one after another. */
struct bb_lines_burst {
	const struct bb_lines_state *state;
	const struct bb_lines_loaded *thing;
	uint64_t nth; /* position on the path at which runs end early; UINT64_MAX: they do not */
	/* cut at which runs must end; -1: no cut may end them; -2: not checked */
	int64_t ends_at;
	bool is_bare;  /* runs end by a bare exit path (lines/cut_clone.h) */
	bool restores; /* a whole run comes before each run, to restore the maps */
	bool is_restoring;
	size_t warmed; /* runs made for the warm-up */
	uint64_t other_paths;
	struct bb_prog_stats last;
	struct bb_batch batch; /* the caller sets want, warmup and drain_each_run */
	uint64_t ns[BB_LINES_BURST];
};

/* lines.c: fires `burst` as s->burst, which then has the results. */
int bb_lines_burst__fire(const struct bb_lines_state *s, const struct bb_lines_burst *burst,
			 uint32_t param, struct bb_err *err);

/* lines.c: __load() loads and attaches the program, the clone of this load and the programs that
 * take turns with them. __load_logger() does so for the logger. __unload() unloads one of them. */
int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err);
int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing);

/* lines_plan.c: __read() reads the code of the target's current load, and finds out for each
 * instruction which registers are in use and which resources are held. __forget() frees this. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);
int bb_lines_plan__load(const struct bb_lines_plan *p, const struct bb_cut_form *form,
			int *ret_prog_fd, struct bb_err *err);
void bb_lines_plan__done(struct bb_lines_plan *p);

/* lines_plan.c: finds the cuts, the paths through them and the items to measure. All programs
 * are then loaded into the slot. bb_lines_variant__done() frees the plan. */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_variant__done(struct bb_lines_variant *v);

/* lines.c: find the variant of a program and its case at a parameter; NULL if there is none. */
struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec);
struct bb_lines_case *bb_lines_variant__case(struct bb_lines_variant *v, uint32_t param);
