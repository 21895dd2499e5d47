/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* The time of one run of a program, split by source line and by the calls in each line (drive
 * `lines`). Values are Hodges-Lehmann estimates over loads in ns, with 95 % intervals
 * (stats/loads.h). The intervals include the spread between runs of bpfbench if the machine's
 * self-test measured it. */

/* A shorter time of a line, ns, cannot be told from 0, because the CPU may do the line's work while
 * it still executes earlier instructions. */
#define BB_BY_LINE_LEAST_NS 3.0

struct bb_line_part {
	const struct bb_timed_row *row;
	/* times in one run: all executions of the row, and only the first (NAN if not measured) */
	struct bb_estimate ns, first;
	/* like `ns`, but with cold caches (drive `lines-cold`); NAN if not measured */
	struct bb_estimate cold;
};

struct bb_line_time {
	/* the line's first row, which has its file, line numbers and text */
	const struct bb_timed_row *row;
	struct bb_estimate ns; /* sum of `ns` of its parts */
	double cold_ns;        /* sum of `cold` of its parts; NAN if not measured */
	/* instructions in one run (drive `exact`); NAN if not counted, or if narrower rows have
	 * them */
	double insns;
	struct bb_line_part *parts; /* the line's own code and the calls in it */
	size_t n_parts;
};

struct bb_by_line {
	const struct bb_timed *timed;
	/* a shorter time cannot be told from 0; it is 1 if a guest counted instructions instead of
	 * ns */
	double least;
	size_t n_loads; /* loads that have all figures and were not disturbed */
	size_t n_all;
	/* share of the measurements left out because the machine was disturbed, 0 to 1 */
	double left_out;
	/* Times of one run, ns. `program` is the whole run. `calling` is the cost of calling and
	 * timing an empty program, less the part of the program's exit that overlaps with its own
	 * work. `rest` is how much longer a run is on average than a run on the path that the rows
	 * show. `own` is the sum of all parts and `rest`. `sum` is `own` plus `calling`. */
	struct bb_estimate program, calling, rest, own, sum;
	double latency; /* latency of the case, ns; NAN if it has none */

	struct bb_line_time *lines; /* sorted by file and line */
	size_t n_lines;
	struct bb_estimate cold; /* time of a run with cold caches; NAN if not measured */
	struct bb_line_part *parts;
	const struct bb_line_part **top; /* all parts, longest time first */
	size_t n_parts;
};

/* Computes the times of the case `t`. Borrows from the report. Free with bb_by_line__done(). */
void bb_by_line__make(const struct bb_report *r, const struct bb_timed *t,
		      struct bb_by_line *ret_lines);
void bb_by_line__done(struct bb_by_line *b);

/* Returns NAN if the report has no latency of the case `t`. */
double bb_timed__latency(const struct bb_report *r, const struct bb_timed *t);

/* Compares two rows by file, then by line numbers (or else by instruction), then by the calls that
 * lead to the row. The result is like that of strcmp(). */
int bb_timed_row__compare_place(const struct bb_timed_row *a, const struct bb_timed_row *b);

/* Returns the share of runs on other paths than the rows show, 0 to 1, or 0 if it is below 1 %. */
double bb_by_line__other_ways(const struct bb_by_line *b);

/* True if `sum` differs from `program` by more than 2 % and by more than 3 ns. */
bool bb_by_line__differs(const struct bb_by_line *b);
