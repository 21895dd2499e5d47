/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "lines/cuts.h"

/* The path of a run is the list of cuts that it passes. A position is an index in this list. A part
 * is the code between two successive cuts, and belongs to a row of a table: a source line, or a
 * call in it. Parts between the same two cuts are of one kind, such as the iterations of a loop. */
struct bb_line_row {
	char *file, *text;        /* "" without line information */
	uint32_t line, last_line; /* differ only if the row covers several lines */
	uint32_t first_insn, last_insn;
	/* "bpf_ktime_get_ns" or "parse()"; "" if the row is the program's own code */
	char *call;
	/* calls that led to this function, each with its line: "97 part();45 inner()"; "" in the
	 * main function */
	char *from;
	bool enters; /* true if the called function has rows of its own; this row is then only call
		      * and return */
	bool is_loop;
	/* how often the run executes the row; a call in a loop counts once for each iteration */
	uint64_t turns;
	uint32_t first; /* position at which the row is executed first */
};

struct bb_line_path {
	uint32_t *cuts; /* indices in struct bb_cuts */
	uint32_t n;
	uint32_t *row_of; /* by position: row of the part that begins there */
	struct bb_line_row *rows;
	size_t n_rows;
	/* measured positions, ascending, with the first and the last; n, the end of the run,
	 * follows if `leaves` */
	uint32_t *measured;
	uint32_t n_measured;
	/* by position: number of checks before it, plus 2 for each entry into a function and return
	 * from one */
	double *checks;
	bool leaves; /* true if a tail call or code without cuts follows the last cut */
};

/* Finds the row of each part of a path and chooses the measured positions, at most `most` + 2. A
 * `most` below 8 counts as 8. Takes ownership of path[n]. */
void bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
			const struct bb_cuts *cuts, uint32_t *path, uint32_t n, uint32_t most,
			struct bb_line_path *ret_path);
void bb_line_path__done(struct bb_line_path *p);

/* Computes the time of each row, ns. cumulative[n_measured] is the time of a run until each
 * measured position, ns. Parts between two measured positions share their time in proportion to
 * other parts of their rows. ret_first[n_rows] receives the time of each row's first part, or NAN
 * if it was not measured alone. */
void bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			 double *ret_first);
