/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * The verdict on two counts of instructions, without tolerance: one more is regressed, one less is
 * improved, equal counts are the same. If a count is not exact, ranges that do not touch decide,
 * and equal or overlapping ranges are inconclusive. So are cases that are void or have no runs. The
 * machine does not matter.
 */
struct bb_exact_row {
	const char *name;                    /* name of the new case */
	const struct bb_counted_case *a, *b; /* the old and the new case */
	enum bb_verdict verdict;
};

/* A source line whose instructions per run changed. Lines are matched by file name and text,
 * because their numbers move. */
struct bb_exact_line {
	/* the line in the new program, or in the old one if it is gone */
	const struct bb_counted_line *line;
	double more; /* new minus old instructions per run, over all cases */
};

struct bb_exact_program {
	const struct bb_counted *a, *b;
	struct bb_exact_line *lines; /* sorted, largest change first */
	size_t n_lines;
};

/* The cases that both runs have. Borrows from both reports. */
struct bb_exact_diff {
	struct bb_exact_row *rows;
	size_t n_rows;
	struct bb_exact_program *programs;
	size_t n_programs;
	size_t n_only_a, n_only_b; /* cases that only `a` has, and cases that only `b` has */
};

/*
 * Compares the cases with equal names, or, if base and head are not NULL, those of variant `base`
 * in `a` with those of variant `head` in `b`. Returns 0, -ENOMEM, or -ENODATA if nothing can be
 * compared.
 */
int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err);
void bb_exact_diff__done(struct bb_exact_diff *d);

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict);
