/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_REPORT_COMPARISON_H
#define BB_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/metric.h"
#include "stats/verdict.h"

/*
 * An A/B comparison of two programs that were measured in turns in one run, as it is stored: one
 * observation a load pair. Its estimates and verdict are derived from the pairs
 * (bb_comparison__judge) whenever a report is made or read.
 */

/* One load of each program, compared over ABBA or BAAB blocks. All ratios are natural logarithms of
 * head / base. */
struct bb_pair {
	bool matched;               /* both at the same JIT address mod 64 */
	int base_mod64, head_mod64; /* -1 unknown */
	uint32_t blocks;            /* blocks that count */
	double d;                   /* median over blocks of ln(head / base), gross */
	double d_net;    /* the same with the floor subtracted from both; NAN without a floor */
	double shift_ns; /* median over blocks of head - base */
	double base_ns, head_ns, floor_ns; /* medians over blocks of the censored means */
	char *void_why;                    /* why it does not count; NULL: it does */
};

struct bb_comparison {
	char *name;        /* "scenario/drive/parameter=value" */
	char *base, *head; /* the two sides: variants or objects */
	double threshold;  /* practical: 0.01 is 1 % */
	double alpha;
	double injected; /* share added to head's samples by a self-test; 0 otherwise */
	/* time for all comparisons that its verdict was looked for in, s; NAN: not known, or the
	 * number of loads ended it */
	double budget_s;
	struct bb_pair *pairs;
	size_t n_pairs;

	/* Derived. Estimates are ratios head / base with the interval that is valid at every look.
	 */
	/* matched pairs (all, where no JIT address is known); the verdict is on this */
	struct bb_estimate ratio;
	struct bb_estimate ratio_unmatched; /* pairs as the JIT placed them */
	struct bb_estimate ratio_net;       /* matched, net of the floor */
	struct bb_estimate shift_ns;        /* matched */
	/* of the same pairs: base_ns + shift_ns.value is head_ns. Where none of them counts,
	 * medians of those that do */
	double base_ns, head_ns, floor_ns;
	/* likewise of the pairs as the JIT placed them */
	double base_unmatched_ns, head_unmatched_ns;
	/* of being beyond the threshold, valid at every look, after Holm */
	double p_regressed, p_improved;
	uint32_t n_matched, n_unmatched, n_void;
	enum bb_verdict verdict;
};

/* Fill the derived members, for one comparison alone (before Holm) at significance `alpha`. 0 or
 * -ENOMEM. */
int bb_comparison__judge(struct bb_comparison *c, double alpha);

/* Bytes that a next step takes. */
#define BB_NEXT_STEP 200

/*
 * Of an inconclusive comparison: how well the difference is known, and what would decide it, by the
 * square root of the number of pairs: "known to +-2.1 %; --budget 60 should decide". `option` is
 * the one that gives the command more time. Empty for other verdicts, and without any pair.
 */
void bb_comparison__next_step(const struct bb_comparison *c, const char *option,
			      char ret_text[BB_NEXT_STEP]);

/* Mark the pair void; only the first reason is kept. 0 or -ENOMEM. */
int bb_pair_void(struct bb_pair *p, const char *why);

/*
 * Judge all of them together: each at its alpha, then p-values adjusted by Holm 1979; a verdict
 * "regressed" or "improved" that does not survive becomes inconclusive. 0 or -ENOMEM.
 */
int bb_comparisons_judge(struct bb_comparison *c, size_t n);

#endif
