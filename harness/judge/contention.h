/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Tells whether CPUs that run one program at the same time slow each other down (drive `parallel`).
 * It compares the time of a run on many CPUs with that on the fewest CPUs, load by load. If the
 * drive has a floor, each time is first divided by the time of the empty program on as many CPUs. A
 * lower clock, or a core that two CPUs share, slows the empty program by the same factor, so it
 * does not count as contention.
 */
enum bb_contention_verdict { BB_CONTENTION_UNSURE, BB_CONTENDED, BB_NOT_CONTENDED };

/* The least slowdown that counts: the default threshold of comparisons. */
#define BB_CONTENTION_LEAST 0.01

struct bb_contention {
	/* cases of one program: `few` on the fewest CPUs, `many` on the most */
	const struct bb_case *few, *many;
	/* time of a run on many CPUs divided by the time on few CPUs, minus 1, with its 95 %
	 * interval over loads (Hodges & Lehmann; NAN, NAN with fewer than 6 loads) */
	struct bb_estimate more;
	double more_ns; /* the slowdown `more` as ns per run */
	/* by the interval: contended if the whole interval is above BB_CONTENTION_LEAST, not
	 * contended if no part of it is, else unsure */
	enum bb_contention_verdict verdict;
};

/* Judges the case of a program with the most CPUs: case i of the report. Returns false if this case
 * is not of the drive `parallel`, is a floor, or is not the one with the most CPUs, or if no case
 * of the program has fewer CPUs. */
bool bb_contention(const struct bb_report *r, size_t i, struct bb_contention *ret);

/* Returns "contended", "not contended" or "unsure". */
const char *bb_contention_name(enum bb_contention_verdict verdict);
