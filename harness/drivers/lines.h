/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_LINES_H
#define BB_DRIVERS_LINES_H

#include "drivers/driver.h"
#include "lines/cut_clone.h"
#include "lines/path.h"

/*
 * Time by line: in each load, the program runs beside a clone of it that can end at each of its
 * cuts (lines/cut_clone.h), and a run's time to one cut less that to the cut before is what is
 * between them. The program itself, the clone at each cut, the clone with doubled checks and an
 * empty program take turns in random order. The drive's samples are those of the program itself, as
 * by step; the rest is asked for by bb_lines__of() when all loads are done.
 */

/* Called behind each run: goes on for 0, ends for 1, or for -errno. It needs nothing of its process
 * but what `arg` points to, of which a trigger that fires in another one hands over a copy and
 * back. */
struct bb_lines_block {
	int (*after)(void *arg);
	void *arg;
	size_t arg_bytes; /* at most BB_LINES_ARG_BYTES */
};

#define BB_LINES_ARG_BYTES 1024u

/* What fires a program, besides what struct bb_driver has. */
struct bb_lines_trigger {
	int (*open)(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    void **ret_state, struct bb_err *err);
	void (*close)(void *state);
	int (*probe)(void *state, struct bb_test_prog *subject, struct bb_err *err); /* or NULL */
	int (*attach)(void *state, struct bb_test_prog *subject, int prog_fd, void **ret_place,
		      struct bb_err *err);
	void (*detach)(void *state, void *place);
	/* Fire again and again. -ESRCH with a message: whoever fired is gone. */
	int (*run)(void *state, void *place, struct bb_target *target, uint32_t param,
		   const struct bb_lines_block *block, struct bb_err *err);
	uint32_t (*runs_each)(const void *place); /* that a firing brings; NULL: 1 */
};

/* What the drives by each trigger share (lines_by_*.c). */
int bb_lines__open(const struct bb_lines_trigger *trigger, const struct bb_drive_spec *spec,
		   const struct bb_driver_opts *opts, void **ret_state, struct bb_err *err);
int bb_lines__probe(void *state, struct bb_test_prog *subject, struct bb_err *err);
int bb_lines__attach(void *state, struct bb_test_prog *subject, void **ret_slot,
		     struct bb_err *err);
int bb_lines__batch(void *state, void *slot, uint32_t param, struct bb_batch *b,
		    struct bb_err *err);
void bb_lines__detach(void *state, void *slot);
void bb_lines__close(void *state);

/* Samples are of the program itself: as many as the sweeps over all cuts need. */
#define BB_LINES_BLOCK 20u

/* What the kinds of drives by each trigger share. */
#define BB_LINES_KIND                                                                              \
	.with = "lines", .by_key = "trigger",                                                      \
	.pace = {.samples = 17000, .turn = BB_LINES_BLOCK, .sample_s = 2e-4},                      \
	.cold_name = "lines-cold",                                                                 \
	.cold = {.samples = 480, .turn = BB_LINES_BLOCK / 2, .sample_s = 40 * BB_COLD_GUESS_S},    \
	.sample = BB_SAMPLE_RUN, .needs_bpf = true, .one_by_one = true, .by_line = true

/* What was measured of one program at one parameter; lent by the drive's state. */
struct bb_lines {
	const struct bb_line_path *path;
	/* by load, each n_loads; NAN: that load has none */
	const double *program_ns, *empty_ns;
	/* by load: what the program hides of its own way out, which is in its rows and not in its
	 * time; 0 where rest_ns says by what they differ */
	const double *hidden_ns;
	/* by load and row: rows_ns[load * path->n_rows + row]; first_ns: of a row's first turn */
	const double *rows_ns, *first_ns;
	/* by load: by other ways than the path, 0 unless runs take some; with cold caches by what
	 * the clone hides, too */
	const double *rest_ns;
	uint32_t n_loads;
	double check_ns;         /* the price of one check, which is taken out */
	uint32_t n_cuts;         /* of the clone */
	uint32_t points;         /* at which it could have cuts */
	const char *thinned_why; /* there are fewer; "": they are all */
	uint32_t refused;        /* cuts that the verifier does not allow */
	const char *refused_why; /* in its words, of one of them; "" */
	uint64_t runs;           /* of the clone that ended at its last cut, as they were to */
	uint64_t other_ways;     /* that did not, as they took another way */
	uint64_t sweeps;         /* over all cuts, in all loads */
	uint64_t disturbed;      /* that are left out: the program took longer than it does */
};

/* 0; -ENOENT: nothing was measured of it; -ENOMEM. Good until the next call. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_lines *ret_lines);

#endif
