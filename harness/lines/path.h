/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_PATH_H
#define BB_LINES_PATH_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"
#include "lines/cuts.h"

/*
 * One run as the cuts that it passes, one after the other, and the rows of a table that the time
 * between them belongs to: a line of the source, or a call in it. Which cuts are measured is chosen
 * so that every kind of part is, of a loop some of its rounds.
 */
struct bb_line_row {
	char *file, *text;        /* "" without line information */
	uint32_t line, last_line; /* equal, but for a part that is not divided further */
	uint32_t first_insn, last_insn;
	char *call; /* "bpf_ktime_get_ns", "parse()", ""; "" is the program's own code */
	/* how the function that it is in was come to, the main one's call first: "97 part();45
	 * inner()", each with the line of the call; "": it is the main one */
	char *from;
	bool enters; /* a call whose function has rows of its own: it is the call and the return */
	bool is_loop;
	uint64_t turns; /* how often a run comes to it: of a call in a loop, its rounds */
	uint32_t first; /* the first of them: from this place of the path to the next */
};

struct bb_line_path {
	uint32_t *cuts; /* by place */
	uint32_t n;
	uint32_t *row_of; /* by place, n - 1, or n if it leaves: of the part that begins there */
	struct bb_line_row *rows;
	size_t n_rows;
	/* places, ascending; the first and the last among them, and if it leaves its end, n */
	uint32_t *measured;
	uint32_t n_measured;
	double *checks; /* by place: checks passed before it, and what functions hand over */
	bool leaves;    /* its last cut is not before an exit: a tail call, or what is not cut */
};

/* path[n] is taken over, whatever is returned. At most `most` places are measured (not fewer than
 * 8). 0 or -ENOMEM. */
int bb_line_path__make(const struct bb_code *code, const struct bb_cfg *g,
		       const struct bb_cuts *cuts, uint32_t *path, uint32_t n, uint32_t most,
		       struct bb_line_path *ret_path, struct bb_err *err);
void bb_line_path__done(struct bb_line_path *p);

/*
 * Times of rows, ns, from what a run takes to each measured place (cumulative[n_measured]): into
 * ret_rows[n_rows], and of each row's first part alone into ret_first[n_rows], NAN where that was
 * not measured by itself. Between two measured places with others between, the time is shared out
 * in proportion to what parts of the same kinds took.
 */
int bb_line_path__share(const struct bb_line_path *p, const double *cumulative, double *ret_rows,
			double *ret_first);

#endif
