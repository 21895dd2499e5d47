/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* Tells whether CPUs that run one program at the same time slow each other down (drive `parallel`).
 * It compares the time of a run on the most CPUs with the time on the fewest CPUs, load by load.
 * Each time is first divided by the time of the empty program on as many CPUs, if measured. So a
 * lower clock, or a core that two CPUs share, is no contention, because it slows both programs by
 * one factor. */
enum bb_contention_verdict { BB_CONTENTION_UNSURE, BB_CONTENDED, BB_NOT_CONTENDED };

/* The least slowdown that counts. It equals the default threshold of comparisons. */
#define BB_CONTENTION_LEAST 0.01

struct bb_contention {
	/* cases of one program: `few` on the fewest CPUs, `many` on the most */
	const struct bb_case *few, *many;
	/* Time of a run on many CPUs divided by the time on few CPUs, minus 1. The 95 % interval is
	 * over loads (Hodges & Lehmann). Its limits are NAN with fewer than 6 loads. */
	struct bb_estimate more;
	double more_ns; /* the slowdown `more` as ns per run */
	/* by the interval: all above BB_CONTENTION_LEAST is contended, all below is not */
	enum bb_contention_verdict verdict;
};

/* Judges case i of the report against the case with the fewest CPUs. Returns false unless case i
 * has the most CPUs of all cases of its program, and another case has fewer. Also returns false for
 * other drives than `parallel` and for the empty program. */
bool bb_contention(const struct bb_report *r, size_t i, struct bb_contention *ret);

const char *bb_contention_name(enum bb_contention_verdict verdict);
