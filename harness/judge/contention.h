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
	const struct bb_case *few, *many; /* cases of one program, on fewer and on more CPUs */
	/* time of a run on many CPUs divided by the time on few CPUs, minus 1, with its 95 %
	 * interval over loads (Hodges & Lehmann; NAN, NAN with fewer than 6 loads) */
	struct bb_estimate more;
	double more_ns; /* `more` in ns per run */
	/* by the interval: contended if the whole interval is above BB_CONTENTION_LEAST, not
	 * contended if no part of it is, else unsure */
	enum bb_contention_verdict verdict;
};

/* Judges case i of the report. Returns false if the case is not of the drive `parallel` or is a
 * floor, if another case of its program has more CPUs, or if no case of it has fewer CPUs. */
bool bb_contention(const struct bb_report *r, size_t i, struct bb_contention *ret);

/* Returns "contended", "not contended" or "unsure". */
const char *bb_contention_name(enum bb_contention_verdict verdict);
