/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_LINES_STATE_H
#define BB_DRIVERS_LINES_STATE_H

#include "base/rng.h"
#include "bpf/prog_stats.h"
#include "drivers/lines.h"
#include "drivers/trigger.h"

/* What the files of the drive `lines` share: lines.c (the drive, its loads and blocks),
 * lines_plan.c (cuts and paths) and lines_results.c. */

/* Samples are of the program itself: as many as the sweeps over all cuts need. */
#define BB_LINES_BLOCK 20u
#define BB_LINES_WARMUP 2u /* runs before those of a block that are samples */

/* At which cuts a clone of a program may end: found once, with the verifier's help, and used in all
 * loads. */
struct bb_lines_plan {
	enum bb_cut_detail detail;
	struct bb_cut_form form;
	struct bb_cuts cuts;
	uint32_t points;       /* at which the program could be cut */
	char thinned_why[300]; /* the cuts are fewer; "": they are all */
	uint32_t refused;      /* of them, cuts that are off */
	char refused_why[300]; /* in the verifier's words, of the first */
	/* a run takes things out of maps: cut short it would leave them there */
	bool removes;
	/* of the current load, from __read() to __forget() */
	struct bb_code code;
	struct bb_cfg cfg;
	struct bb_registers live;
	struct bb_helds helds;
	uint32_t *stack_bytes;
	int memory_fd;
};

/* Those before the logger take turns; the logger only finds the path. */
enum bb_lines_thing {
	BB_LINES_PROGRAM,
	BB_LINES_CLONE,
	BB_LINES_DOUBLED_CLONE,
	BB_LINES_EMPTY,
	BB_LINES_LOGGER,
	BB_LINES_N_THINGS,
};

/* What is measured in turns: the program, the empty one, the clone at each measured place, at the
 * first and the last one with a bare way out, the doubled clone at some. */
enum { BB_LINES_ITEM_PROGRAM, BB_LINES_ITEM_EMPTY, BB_LINES_ITEM_FIRST_CUT };

struct bb_lines_item {
	enum bb_lines_thing thing;
	uint32_t place; /* of the path; path->n: it runs to its end */
	bool is_bare;   /* see bb_cut_memory__end_at() */
};

/* Means of blocks, by sweep; NAN: that one has no samples. */
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
	bool is_cold;               /* caches are emptied before each run */
	uint64_t runs, other_paths; /* that were to end at the last cut, and those that did not */
	uint64_t sweeps, disturbed; /* over all places, in all loads; those that are left out */
	/* made by bb_lines__of(): */
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
	struct bb_lines_block *block; /* the one in work, seen by the process that fires it */
	struct bb_shared_memory memory;
	struct bb_rng rng;
	struct bb_lines_variant **variants; /* each apart, as slots point to them */
	size_t n_variants;
};

/* One load of one of the programs that take turns. */
struct bb_lines_loaded {
	int prog_fd; /* -1: none */
	bool is_ours;
	struct bb_stats_reader reader;
	struct bb_attached *attached; /* NULL: not yet */
};

struct bb_lines_slot {
	struct bb_drive_slot common;
	struct bb_lines_variant *variant; /* NULL: the floor, which is not cut */
	uint32_t load;
	struct bb_lines_loaded things[BB_LINES_N_THINGS];
};

/* One block of runs. */
struct bb_lines_block {
	const struct bb_lines_state *state;
	const struct bb_lines_loaded *thing;
	uint64_t nth;    /* cut to end at; UINT64_MAX: none */
	int64_t ends_at; /* which one that has to be; -1: none, -2: whichever */
	bool is_bare;    /* see bb_cut_memory__end_at() */
	bool restores;   /* a whole run goes before each, which leaves maps as it does */
	bool is_restoring;
	size_t warmed; /* runs of the warm-up */
	uint64_t other_paths;
	struct bb_prog_stats last;
	struct bb_batch batch; /* want, warmup and drain_each_run are the caller's */
	uint64_t ns[BB_LINES_BLOCK];
};

/* lines.c: fire `block` in the state's block, which has the results. */
int bb_lines_block__fire(const struct bb_lines_state *s, const struct bb_lines_block *block,
			 uint32_t param, struct bb_err *err);

/* lines.c: the program, the clone of this load and what takes turns with it; the logger; one of
 * them off again. */
int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err);
int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing);

/* lines_plan.c: the parts of the current load of the target. */
int bb_lines_plan__read(struct bb_lines_plan *p, const struct bb_target *target,
			struct bb_err *err);
void bb_lines_plan__forget(struct bb_lines_plan *p);
int bb_lines_plan__load(const struct bb_lines_plan *p, const struct bb_cut_form *form,
			int *ret_prog_fd, struct bb_err *err);
void bb_lines_plan__done(struct bb_lines_plan *p);

/*
 * lines_plan.c: which cuts, the paths through them and what is measured, with all of them loaded
 * into the slot. bb_lines_variant__done() frees that.
 */
int bb_lines_variant__plan(struct bb_lines_slot *slot, struct bb_err *err);
void bb_lines_variant__done(struct bb_lines_variant *v);

/* lines.c: NULL: there is none. */
struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec);
struct bb_lines_case *bb_lines_variant__case(struct bb_lines_variant *v, uint32_t param);

#endif
