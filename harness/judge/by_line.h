/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_BY_LINE_H
#define BB_JUDGE_BY_LINE_H

#include "base/std.h"
#include "core/metric.h"
#include "report/report.h"

/*
 * Where one run spends its time, of one case that the drive `lines` measured: its lines, and the
 * calls in each. Values are Hodges-Lehmann estimates over loads with intervals of 95 %, ns
 * (stats/loads.h), which hold what moves between runs, too, where the machine's self-test says
 * it. Borrows from the report.
 */

/* A smaller time cannot be told from none: it may hide behind work that is still in flight. */
#define BB_BY_LINE_LEAST_NS 3.0

struct bb_line_part {
	const struct bb_timed_row *row;
	struct bb_estimate ns, first; /* of all turns; of the first alone, NAN: not measured */
	struct bb_estimate cold;      /* of all turns, by the drive `lines-cold`; NAN likewise */
};

struct bb_line_time {
	const struct bb_timed_row *row; /* the first of its parts: file, lines, text */
	struct bb_estimate ns;          /* of all its parts */
	double cold_ns;                 /* likewise, NAN: not measured */
	double insns; /* executed for it in one run, by the drive exact; NAN: not counted */
	struct bb_line_part *parts; /* the calls, and the line's own code if it has calls, too */
	size_t n_parts;
};

struct bb_by_line {
	const struct bb_timed *timed;
	size_t n_loads; /* that have everything, and were not disturbed */
	size_t n_whole; /* disturbed ones, too */
	size_t n_all;   /* that there are */
	/* calling: calling and timing an empty program, less what this one surely hides of its way
	 * out; rest: by what all runs are longer than those whose way the rows show; sum: of all
	 * parts */
	struct bb_estimate program, calling, rest, sum;

	struct bb_line_time *lines; /* by file and line */
	size_t n_lines;
	struct bb_estimate cold;         /* the program with cold caches; NAN: not measured */
	struct bb_line_part *parts;      /* of all lines */
	const struct bb_line_part **top; /* all parts, the longest first */
	size_t n_parts;
};

/* `r`: the report that it is of, for exact counts. 0 or -ENOMEM; bb_by_line__done() it. */
int bb_by_line__make(const struct bb_report *r, const struct bb_timed *t,
		     struct bb_by_line *ret_lines);
void bb_by_line__done(struct bb_by_line *b);

/* The order of two rows by file, lines or instruction, and the calls that led there: below 0, 0:
 * none, above 0. */
int bb_timed_row__compare_place(const struct bb_timed_row *a, const struct bb_timed_row *b);

/* Of the whole run, 0..1. */
double bb_by_line__share(const struct bb_by_line *b, double ns);

/* Time that cold caches add to a part, ns; 0: too little to tell. */
double bb_line_part__missed_ns(const struct bb_line_part *p);

/* The share of runs, 0..1, that took another path than the rows show; 0: less than 1 %. */
double bb_by_line__other_ways(const struct bb_by_line *b);

/* The share of all runs, 0..1, that is left out as the program took longer than at its best. */
double bb_by_line__left_out(const struct bb_by_line *b);

/* Does the sum of the parts differ from the program's own time by more than 2 % and 3 ns? */
bool bb_by_line__differs(const struct bb_by_line *b);

#endif
