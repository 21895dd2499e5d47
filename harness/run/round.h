/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_ROUND_H
#define BB_RUN_ROUND_H

#include "run/references.h"
#include "run/session.h"

/*
 * Where the loads of one program in a run are put. The kernel puts each load at a random address of
 * a page or a pack (kernel/bpf/core.c, bpf_jit_binary_pack_alloc), in steps of the architecture's
 * alignment and within bounds that follow from the size of the code: 4 to 14 addresses mod 64 were
 * seen on x86. Which they are is found by loading; then the program is loaded again until it is at
 * one of the places that the run has had least often, so that all are measured equally often
 * (stats/loads.h).
 */
struct bb_placement {
	uint32_t taken[BB_PLACES]; /* loads that were measured */
	double most_s, spent_s;    /* of loading beyond one load a round */
	double load_s;             /* of one, the longest so far */
};

/* Find the places of a loaded program. `most_s`: for all loading beyond one load a round.
 */
int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err);

/* The load of the next round. Where the time for it is over, wherever it comes to be. */
int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err);

/*
 * The share of random loads that come to be at `mod64`, by all loads so far: equal shares unless
 * the counts contradict them (chi-square, P < 0.1 %), as an equal share has no noise. NAN: not
 * known.
 */
double bb_placement_share(const struct bb_test_prog *prog, int mod64);

/* Of a run, what a case of the plan has. Cases of one drive and variant share their slot. */
struct bb_run_case {
	size_t first; /* of its drive and variant, which holds the parts that they share */
	size_t next;  /* of its drive and variant; BB_NO_CASE behind the last */
	void *slot;   /* of the round */
	bool is_slow; /* its last turn ended with fewer samples than it wanted */
};

/* A plan on its way into a report. */
struct bb_run {
	struct bb_session session;
	size_t *case_of; /* by case; SIZE_MAX: not measured here */
	struct bb_run_case *cases;
	uint64_t *ns; /* one batch of samples */
	size_t ns_size;
	double done, total; /* expected seconds */
	uint64_t began_ns;
	/* of the round: when it began, its share of the budget (INFINITY: none), its drives */
	uint64_t round_ns;
	double round_s;
	size_t drives_left;
	uint32_t rounds; /* to be measured: the plan's loads, or fewer if programs are slow */
	bool is_cut;     /* a turn of a round had to end with fewer samples */
	struct bb_placement *places; /* by variant */
	struct bb_calm calm;
	struct bb_references *references; /* NULL: none here */
};

/* Of a case of the plan; NULL: it is not measured here. */
static inline struct bb_case *bb_run__case(const struct bb_run *r, size_t planned)
{
	return r->case_of[planned] == SIZE_MAX ? NULL
					       : &r->session.report->cases[r->case_of[planned]];
}

/*
 * One round: every variant loaded anew, then each drive's turns, one at a time. -EINTR after a
 * signal, -ETIME when the budget is over; samples taken until then are in the report.
 */
int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err);

/* Samples of a case in a round. */
uint32_t bb_round__samples(const struct bb_plan_case *c);

/* The expected time of a case in one round, s; only the proportions matter, to the progress bar. */
double bb_round__expected_s(const struct bb_plan_case *c);

/* Does the figure depend on where the program is, and need a calm CPU? */
bool bb_round__is_placed(const struct bb_plan_case *c);

#endif
