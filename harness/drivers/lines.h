/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
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

/* The results for one program at one parameter. The drive's state owns them. */
struct bb_lines {
	const struct bb_line_path *path;
	/* program_ns[n_loads], empty_ns[n_loads]: time of a run of the program and of the empty
	 * program in each load, ns; NAN: not measured */
	const double *program_ns, *empty_ns;
	/* hidden_ns[n_loads]: time of the exit path that is in the rows, but not in the program's
	 * total time, because the CPU overlaps it there with other instructions, ns. 0 if rest_ns
	 * has the difference between rows and total time. */
	const double *hidden_ns;
	/* rows_ns[load * path->n_rows + row]: time of a row in a load, ns. first_ns[] has only the
	 * time of that part of the row which comes first on the path, in a loop the first iteration
	 */
	const double *rows_ns, *first_ns;
	/* rest_ns[n_loads]: time that runs on other paths add to the mean time of the program, ns;
	 * 0 if no run takes another path. With cold caches, it is the whole difference between the
	 * time of the program and its rows. */
	const double *rest_ns;
	uint32_t n_loads;
	/* time of one check of the clone, ns; the times of the rows do not contain the checks */
	double check_ns;
	uint32_t n_cuts; /* number of cuts of the clone */
	uint32_t points; /* number of points of the program at which the clone could have a cut */
	/* the reason why there are fewer cuts than points; "" if there is a cut at every point */
	const char *thinned_why;
	uint32_t refused; /* number of cuts that the verifier refuses */
	/* what the verifier says about one refused cut; "": it refuses none */
	const char *refused_why;
	uint64_t runs; /* runs of the clone that ended at its last cut, as planned */
	/* runs of the clone that should have ended at its last cut, but took another path */
	uint64_t other_paths;
	/* number of sweeps in all loads; one sweep measures the program and all cuts once */
	uint64_t sweeps;
	/* number of sweeps that are left out, because the program was slower than usual in its
	 * load */
	uint64_t disturbed;
};

/* Fills *ret_lines with the results of a variant at one parameter. Returns 0, or -ENOENT if nothing
 * was measured. The results are valid until the next call. */
int bb_lines__of(void *state, const struct bb_variant_spec *variant, uint32_t param,
		 struct bb_lines *ret_lines);
