/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "lines/cut_clone.h"
#include "lines/path.h"

/*
 * Time by line. In each load, the program is measured together with a clone that can end at each
 * cut (lines/cut_clone.h). The time of a run that ends at a cut, minus the time of a run that ends
 * at the cut before, is the time between the two cuts. The program, the clone at each cut, the
 * clone with doubled checks and an empty program take turns in random order. The samples of the
 * drive are runs of the program itself, as with the drive `step`. bb_lines__of() returns all other
 * results when all loads are done.
 */

/* The results for one program at one parameter. The drive's state owns them. */
struct bb_lines {
	const struct bb_line_path *path;
	/* by load, [n_loads]: time of a run of the program, and of the empty program; NAN: none */
	const double *program_ns, *empty_ns;
	/* By load: the part of the exit path's time that the rows contain, but the program's total
	 * time does not, because the CPU hides it there. 0 if rest_ns holds the difference. */
	const double *hidden_ns;
	/* by load and row, [load * path->n_rows + row]: time of the row, and time of only its first
	 * part on the path */
	const double *rows_ns, *first_ns;
	/* By load: time of runs that take other paths; 0 if no run does. With cold caches it
	 * also holds the time that the clone hides. */
	const double *rest_ns;
	uint32_t n_loads;
	double check_ns;         /* price of one check, which is already subtracted */
	uint32_t n_cuts;         /* number of cuts of the clone */
	uint32_t points;         /* number of points at which the clone could have cuts */
	const char *thinned_why; /* the reason why there are fewer cuts than points; "": there are
				    as many */
	uint32_t refused;        /* number of cuts that the verifier refuses */
	const char *refused_why; /* the verifier's words about one refused cut; "": none */
	uint64_t runs;           /* runs of the clone that ended at its last cut, as planned */
	/* runs of the clone that should have ended at its last cut, but took another path */
	uint64_t other_paths;
	uint64_t sweeps;    /* sweeps over all cuts, in all loads */
	uint64_t disturbed; /* sweeps that are left out, because the program took longer than usual
			     */
};

/* Returns the results of a variant at one parameter. 0, or -ENOENT if nothing was
 * measured. The results are valid until the next call. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_lines *ret_lines);
