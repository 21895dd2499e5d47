/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Whether CPUs that run one program at once slow each other down (drive `parallel`): the time of a
 * run on many CPUs against that on the fewest CPUs of the same drive, load by load. If the drive
 * has a floor, both times are divided by the empty program's on as many CPUs. A lower clock, or a
 * core that two CPUs share, slows the empty program by the same factor, and is not contention.
 */
enum bb_contention_verdict { BB_CONTENTION_UNSURE, BB_CONTENDED, BB_NOT_CONTENDED };

/* The least slowdown that counts: the default threshold of comparisons. */
#define BB_CONTENTION_LEAST 0.01

struct bb_contention {
	const struct bb_case *few, *many; /* cases of one program, on fewer and on more CPUs */
	/* time of a run on many CPUs / on few, less 1, with its 95 % interval over loads (Hodges &
	 * Lehmann; NAN, NAN with fewer than 6 loads) */
	struct bb_estimate more;
	double more_ns; /* `more` in ns per run */
	/* by the interval: contended if all of it is above BB_CONTENTION_LEAST, not contended if
	 * none of it is */
	enum bb_contention_verdict verdict;
};

/* Judges case i of the report. Returns false unless it is of the drive `parallel`, no floor, has
 * the most CPUs of its program, and was measured on fewer CPUs, too. */
bool bb_contention(const struct bb_report *r, size_t i, struct bb_contention *ret);

/* Returns "contended", "not contended" or "unsure". */
const char *bb_contention_name(enum bb_contention_verdict verdict);
