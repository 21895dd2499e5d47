/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_EXACT_DIFF_H
#define BB_JUDGE_EXACT_DIFF_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"
#include "stats/verdict.h"

/*
 * Two counts of instructions, without any tolerance: one more is regressed, one less improved.
 * Where a count is not exact, ranges that do not touch are judged likewise, equal and overlapping
 * ones are inconclusive. The machine does not matter.
 */
struct bb_exact_row {
	const char *name;                    /* of the new case */
	const struct bb_counted_case *a, *b; /* old and new */
	enum bb_verdict verdict;
};

/* A line of the source whose instructions per run changed; found again by its text, as numbers
 * move. */
struct bb_exact_line {
	/* of the new program, or of the old if it is gone */
	const struct bb_counted_line *line;
	double more; /* per run of the program, over all cases */
};

struct bb_exact_program {
	const struct bb_counted *a, *b;
	struct bb_exact_line *lines; /* the largest change first */
	size_t n_lines;
};

/* Everything that both have. Borrows from both reports. */
struct bb_exact_diff {
	struct bb_exact_row *rows;
	size_t n_rows;
	struct bb_exact_program *programs;
	size_t n_programs;
	size_t n_only_a, n_only_b; /* cases that the other does not have */
};

/*
 * Cases are matched by name; with base and head (not NULL), those of variant `base` in `a` with
 * those of variant `head` in `b`. -ENODATA when there is nothing to compare.
 */
int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err);
void bb_exact_diff__done(struct bb_exact_diff *d);

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict);

#endif
