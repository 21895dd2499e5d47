/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "lines/cuts.h"

/* A cut is a point in a program (lines/cuts.h). The path of a run is the list of cuts that the run
 * passes. A position is an index in this list. A part is the piece of a run between two successive
 * positions. Parts between the same two cuts are of one kind, such as the iterations of a loop.
 * Each part belongs to a row of a table. A row is one or several source lines, or a call in a
 * line. */
struct bb_line_row {
	char *file, *text;        /* "" without line information */
	uint32_t line, last_line; /* differ only if the row covers several lines */
	uint32_t first_insn, last_insn;
	/* the called helper or function, "bpf_ktime_get_ns" or "parse()"; "" if the row is no
	 * call */
	char *call;
	/* the calls that led to the function of this row, each with its line: "97 part();45
	 * inner()"; "" in the main function */
	char *from;
	/* true if the called function has rows of its own; this row then has only the time to call
	 * it and to return from it */
	bool enters;
	bool is_loop;
	/* how often a run executes the row; a call in a loop counts once for each iteration */
	uint64_t turns;
	uint32_t first; /* position at which the row is executed first */
};

struct bb_line_path {
	uint32_t *cuts; /* indices in struct bb_cuts */
	uint32_t n;
	uint32_t *row_of; /* by position: row of the part that begins there */
	struct bb_line_row *rows;
	size_t n_rows;
	/* The measured positions, in ascending order. The first is 0. Then come others, and the
	 * position n - 1 of the last cut. If `leaves`, the end of the run follows as position n. */
	uint32_t *measured;
	uint32_t n_measured;
	/* By position: how many checks (lines/cut_clone.h) a run has made before it. Each entry
	 * into a function and each return from one adds 2, as it takes as long as two checks. */
	double *checks;
	bool leaves; /* true if a tail call or code without cuts follows the last cut */
};

/* Finds the row of each part of the path path[n], and chooses the positions to measure, at most
 * `most` + 2. A `most` below 8 counts as 8. Takes ownership of path[n]. */
void bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
			const struct bb_cuts *cuts, uint32_t *path, uint32_t n, uint32_t most,
			struct bb_line_path *ret_path);
void bb_line_path__done(struct bb_line_path *p);

/*
 * Computes the time of each row, ns: the sum of the times of its parts. cumulative[n_measured] is
 * the time from the start of a run to each measured position, ns.
 *
 * A part is measured alone if the positions at both its ends are measured. If several parts lie
 * between two measured positions, only their total time is known. The total is divided among the
 * parts in proportion to their expected times. The expected time of a part is the mean time of
 * those parts of the same row that were measured alone, or a very short time if there are none.
 *
 * ret_first[n_rows] receives the time of each row's first part. It is NAN if that part was not
 * measured alone, or if the row has `enters`.
 */
void bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			 double *ret_first);
