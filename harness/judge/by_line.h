/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * The time of one run of a program, by line and by the calls in each line, for a case of the drive
 * `lines`. Values are Hodges-Lehmann estimates over loads in ns, with intervals of 95 %
 * (stats/loads.h). The intervals include the spread between runs of bpfbench if the machine's
 * self-test measured it. struct bb_by_line borrows from the report.
 */

/* A line's time below this, ns, cannot be told from 0, because the CPU may do the work of the line
 * while it still executes earlier instructions. */
#define BB_BY_LINE_LEAST_NS 3.0

struct bb_line_part {
	const struct bb_timed_row *row;
	/* ns: time of all executions of the row in one run. first: time of only the first
	 * execution; NAN: not measured */
	struct bb_estimate ns, first;
	/* time of all executions in one run, by the drive `lines-cold`; NAN: not measured */
	struct bb_estimate cold;
};

struct bb_line_time {
	const struct bb_timed_row *row; /* the line's first row, which has its file, line numbers
					   and text */
	struct bb_estimate ns;          /* sum of its parts */
	double cold_ns; /* sum of its parts by the drive `lines-cold`; NAN: not measured */
	double insns; /* instructions that one run executes for the line, by the drive `exact`; NAN:
			 not counted, or counted in narrower rows within this one */
	struct bb_line_part *parts; /* the rows of this line: its own code and the calls in it */
	size_t n_parts;
};

struct bb_by_line {
	const struct bb_timed *timed;
	/* A shorter time cannot be told from 0: BB_BY_LINE_LEAST_NS or, if a guest counted
	 * instructions instead of ns, 1. */
	double least;
	size_t n_loads; /* loads that have all figures and were not disturbed */
	size_t n_all;   /* all loads */
	/* share of the measurements that are left out because the machine was disturbed, 0 to 1 */
	double left_out;
	/* All are times of one run, ns. program: the whole run. calling: the cost of calling
	 * and timing an empty program, less the part of its exit that overlaps with the program's
	 * own work. rest: how much longer a run is on average than a run on the path that the rows
	 * show. own: the program's own time, the sum of all parts and `rest`. sum: own and
	 * calling. */
	struct bb_estimate program, calling, rest, own, sum;
	double latency; /* the case's latency, which other tables show; NAN: it has none */

	struct bb_line_time *lines; /* sorted by file and line */
	size_t n_lines;
	struct bb_estimate cold;         /* time of a run with cold caches; NAN: not measured */
	struct bb_line_part *parts;      /* the parts of all lines */
	const struct bb_line_part **top; /* all parts, sorted by time, longest first */
	size_t n_parts;
};

/* Computes the times of the case `t` of the report `r`. Free with
 * bb_by_line__done(). */
void bb_by_line__make(const struct bb_report *r, const struct bb_timed *t,
		      struct bb_by_line *ret_lines);
void bb_by_line__done(struct bb_by_line *b);

/* Returns the latency of the case `t`, ns, from the report's summary; NAN: it has none, or the
 * report has no summaries. */
double bb_timed__latency(const struct bb_report *r, const struct bb_timed *t);

/* Compares two rows by file, then by line numbers (rows without line numbers: by instruction), then
 * by the calls that lead to the row. Returns below 0, 0 or above 0, like strcmp(). */
int bb_timed_row__compare_place(const struct bb_timed_row *a, const struct bb_timed_row *b);

/* Returns the share of runs that took another path than the rows show, 0 to 1; 0 if the share is
 * below 1 %. */
double bb_by_line__other_ways(const struct bb_by_line *b);

/* True if `sum` differs from `program` by more than 2 % and by more than 3 ns. */
bool bb_by_line__differs(const struct bb_by_line *b);
