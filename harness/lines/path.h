/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "lines/cuts.h"

/* The cuts that one run passes, in order. A position is the index of a cut in this path. The code
 * between two successive cuts is a part. Each part belongs to a row of a table: a source line, or a
 * call in it. All parts from one cut to another same cut are of one kind, such as the iterations of
 * a loop. In a long path, only some parts of each kind are measured. */
struct bb_line_row {
	char *file, *text;        /* "" without line information */
	uint32_t line, last_line; /* differ only if the row covers several lines */
	uint32_t first_insn, last_insn;
	/* the call: "bpf_ktime_get_ns" or "parse()"; "" if the row is the program's own code */
	char *call;
	/* calls that led to the function of this row, outermost first, each with the line of the
	 * call: "97 part();45 inner()"; "" for the main function */
	char *from;
	bool enters; /* true if the called function has its own rows; this row is then only the call
			and the return */
	bool is_loop;
	/* executions of the row in the run; a call in a loop is executed once per iteration */
	uint64_t turns;
	uint32_t first; /* position in the path where the row is executed first */
};

struct bb_line_path {
	uint32_t *cuts; /* by position in the path: index of the cut in struct bb_cuts */
	uint32_t n;
	uint32_t *row_of; /* by position: row of the part that begins there; n - 1 elements, or n if
			     `leaves` */
	struct bb_line_row *rows;
	size_t n_rows;
	/* measured positions, ascending. The first and the last position of the path are among
	 * them, and also n if `leaves`. */
	uint32_t *measured;
	uint32_t n_measured;
	/* by position: number of checks that the run makes before it. Each time that the run enters
	 * or leaves a function, the number grows by 2 more */
	double *checks;
	bool leaves; /* true if the last cut is not before an exit: a tail call or code without cuts
			follows */
};

/* Finds the row of each part of a path and chooses the measured positions: at most `most` + 1, and
 * also the end of the run if `leaves`. `most` below 8 counts as 8. Takes ownership of path[n]. */
void bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
			const struct bb_cuts *cuts, uint32_t *path, uint32_t n, uint32_t most,
			struct bb_line_path *ret_path);
void bb_line_path__done(struct bb_line_path *p);

/*
 * Computes the time of each row, ns. cumulative[n_measured] has the time of a run from its start to
 * each measured position, ns. ret_rows[n_rows] receives the times of the rows.
 *
 * A part is measured alone if both its cuts are measured positions. ret_first[n_rows] receives the
 * time of each row's first part; NAN if that part was not measured alone. If several parts lie
 * between two measured positions, their time is divided among them, in proportion to the times of
 * other parts of the same rows.
 */
void bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			 double *ret_first);
