/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_AB_PAIR_H
#define BB_RUN_AB_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/ab.h"
#include "run/session.h"

/* Within ab.c and ab_pair.c only: an A/B run in progress, and how one pair of loads is measured in
 * it. */
enum bb_label { BB_LABEL_BASE, BB_LABEL_HEAD, BB_LABEL_FLOOR, BB_N_LABELS };
#define BB_ALL_LABELS (1u << BB_LABEL_BASE | 1u << BB_LABEL_HEAD | 1u << BB_LABEL_FLOOR)

/* Events fired and runs counted, both with the warm-up. */
struct bb_run_count {
	uint64_t fired, ran;
};

/* One comparison in progress: a drive at one parameter. */
struct bb_ab_case {
	size_t planned[BB_N_LABELS]; /* BB_NO_CASE: no floor */
	size_t case_of[BB_N_LABELS];
	size_t comparison; /* index in the report */
	double tick_ns;
	bool active;
	bool has_pair; /* the last one is of the loads in progress */
};

struct bb_ab {
	struct bb_session session;
	const struct bb_ab_opts *opts;
	struct bb_report *report;
	/* the floor: of the drive in progress; may be NULL */
	struct bb_test_prog *prog[BB_N_LABELS];
	struct bb_test_prog second; /* base once more, for A/A: head as a load of its own */
	struct bb_ab_case *cases;
	size_t n_cases;
	void *slot[BB_N_LABELS]; /* of the drive in progress */
	bool warm[BB_N_LABELS];
	struct bb_run_count tally[BB_N_LABELS]; /* of the drive's part of the round in progress */
	uint64_t ns[BB_N_LABELS][2 * BB_PAIR_TURN_MOST];
	double scratch[4 * BB_PAIR_TURN_MOST];
	/* why the pair in progress does not count; empty: it counts */
	char wrong[300];
	uint64_t began_ns;
	double pair_s; /* of a comparison's share of the budget; 0: no limit */
	bool is_cut;   /* a pair had to end with fewer runs */
};

/* The drive of a comparison. */
const struct bb_open_drive *bb_ab_case__drive(const struct bb_ab *ab, const struct bb_ab_case *c);

/*
 * One load pair of every active comparison of a drive: as the JIT places it, and then matched
 * (which it may be at once), by moving either to the other.
 */
int bb_ab__run_pair(struct bb_ab *ab, size_t drive, uint32_t pair, struct bb_err *err);

/* The time of one pair of loads of a case that goes by samples, about, s. */
double bb_ab__pair_s(const struct bb_pace *pace);

#endif
