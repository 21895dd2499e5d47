/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/* The references of a run: BPF programs with a fixed piece of work (core/metric.h). They are loaded
 * once, and measured by test runs before the turns of each drive in each round. */
struct bb_references;

/* Opens the references in `object_dir`, which has references.bpf.o. Returns -ENOTSUP if the kernel
 * lacks a feature, or another -errno. */
int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err);

/* Measures the time of one piece of each reference's work, ns (drivers/fit_line.h). A time is NAN
 * if its measurement failed or `r` is NULL. Takes about 4 ms. */
void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES]);

void bb_references__free(struct bb_references *r); /* `r` may be NULL */

/* Tells whether the CPU is calm, that is, as fast as it was at its best in this run. The test times
 * a fixed piece of work in user space with several instructions per cycle. The work takes longer
 * when another machine of the host uses the same core, or when the clock slows down. A VM has no
 * other way to see this, and steal does not show it (docs/methods/quiet-cpu.md). */
struct bb_calm {
	double best_ns; /* shortest time of the fixed work, ns */
	/* time waited in this run so far, and its limit, s */
	double waited_s, most_s;
};

/* Begins a run. `most_s` limits all its waits together, s. */
void bb_calm__begin(struct bb_calm *c, double most_s);

/* Waits until the CPU is calm, or `most_s` or the deadline is over. */
void bb_calm__wait(struct bb_calm *c);

/*
 * Where the loads of a program were in memory. The kernel puts each load at a random address in a
 * page or a pack (kernel/bpf/core.c, bpf_jit_binary_pack_alloc). A place is such an address modulo
 * 64. Alignment and code size limit the choice to 4 to 14 places on x86. The first loads of a run
 * find the places. Then each round loads the program again until it has one of the least used
 * places, so that all places are measured equally often (stats/loads.h).
 */
struct bb_placement {
	uint32_t taken[BB_PLACES];
	/* Time limit, and time spent, for loads beyond one per round, s. */
	double most_s, spent_s;
	double load_s;
};

/* Finds the places of a program by loading it again and again. `most_s` limits the time of all
 * loads in this run beyond one per round, s. */
int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err);

/* Loads the program for the next round, until it has one of the least used places. Accepts any
 * place when the time for this is over. */
int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err);

/* Returns the share of random loads that get the place `mod64`, 0 to 1, or NAN if unknown. All
 * places get the same share unless the loads so far contradict this (chi-square, P < 0.1 %),
 * because equal shares have no noise. */
double bb_placement_share(const struct bb_test_prog *prog, int mod64);

/* State of a case during a run. Cases with the same drive and variant share a slot. */
struct bb_run_case {
	/* first case of this drive and variant, which attaches the program */
	size_t first;
	size_t next; /* next case of this drive and variant, or BB_NO_CASE */
	/* the attached program in the present round; NULL between rounds */
	struct bb_drive_slot *slot;
	/* true if the last turn gave fewer samples than wanted */
	bool is_slow;
};

struct bb_run {
	struct bb_session session;
	/* index in the report of each case of the plan; SIZE_MAX if not measured */
	size_t *case_of;
	struct bb_run_case *cases;
	uint64_t *ns;
	size_t ns_size;
	/* expected time of the work done so far, and of the whole run, s */
	double done, total;
	uint64_t began_ns;
	/* when the present round began */
	uint64_t round_ns;
	double round_s;     /* the round's share of the budget, s; INFINITY without a limit */
	size_t drives_left; /* drives that the round has not yet measured */
	/* the plan's loads (fewer for slow programs, more if lines are compared) */
	uint32_t rounds;
	bool is_cut;                 /* true if a turn gave fewer samples than wanted */
	struct bb_placement *places; /* places[i] is of variant i of the scenario */
	struct bb_calm calm;
	/* NULL if no case needs them or this machine cannot run them */
	struct bb_references *references;
};

/* Returns the report's case for a case of the plan, or NULL if it is not measured. */
static inline struct bb_case *bb_run__case(const struct bb_run *r, size_t planned)
{
	return r->case_of[planned] == SIZE_MAX ? NULL
					       : &r->session.report->cases[r->case_of[planned]];
}

/* Measures one round: loads every variant, then runs the turns of each drive. Returns -EINTR after
 * a signal, or -ETIME at the end of the budget. The report keeps the samples taken before. */
int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err);

/* Returns the number of samples in a turn of the case, or 0 if a turn has all samples of a round.
 * Turns of exact samples (counts without noise) are longer, because each turn attaches the program
 * anew. */
uint32_t bb_round__turn(const struct bb_plan_case *c, bool is_exact);

/* Returns the case's number of samples per round. */
uint32_t bb_round__samples(const struct bb_plan_case *c);

/* Returns the expected time of the case per round, s. Only the progress bar uses it, so only
 * proportions matter. */
double bb_round__expected_s(const struct bb_plan_case *c);

/* Returns true if the case's figure depends on the program's place in memory and needs a calm
 * CPU. */
bool bb_round__is_placed(const struct bb_plan_case *c);
