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
	/* by load: by other paths, 0 unless runs take some; with cold caches by what
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
	uint64_t other_paths;    /* that did not, as they took another path */
	uint64_t sweeps;         /* over all cuts, in all loads */
	uint64_t disturbed;      /* that are left out: the program took longer than it does */
};

/* 0; -ENOENT: nothing was measured of it; -ENOMEM. Good until the next call. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_lines *ret_lines);

#endif
