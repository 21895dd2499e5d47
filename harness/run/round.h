/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/* The references of a run (core/metric.h). They are loaded once, and are measured by test runs
 * before the turns of each drive in each round. */
struct bb_references;

/* Opens the references. `object_dir` contains references.bpf.o. Returns -ENOTSUP if the kernel
 * lacks a feature, or -errno. */
int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err);

/* Measures how long one more piece of the work of each reference takes now, ns
 * (drivers/fit_line.h). A time is NAN if it failed, or if `r` is NULL. Takes about 4 ms. */
void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES]);

void bb_references__free(struct bb_references *r); /* `r` may be NULL */

/*
 * State of the test whether this CPU is now as fast as it was at its best in this run. The test
 * times a fixed piece of work in user space with several instructions per cycle. The work slows
 * down when another machine of the host runs on the same core, or when the clock slows down. A VM
 * cannot see the other threads of the host's cores, and steal does not show them
 * (docs/methods/quiet-cpu.md). A program's turn waits until the CPU is calm. After the time limit
 * the program is measured anyway.
 */
struct bb_calm {
	double best_ns; /* shortest time of the fixed work so far, ns */
	/* waited_s: time waited for a calm CPU so far in this run, s. most_s: its limit */
	double waited_s, most_s;
};

/* Begins a run that may wait for a calm CPU. `most_s` limits all waits together, s. */
void bb_calm__begin(struct bb_calm *c, double most_s);

/* Waits until the CPU is calm, or the waiting time or the deadline is over. */
void bb_calm__wait(struct bb_calm *c);

/*
 * Places of a program's loads in a run. The kernel puts each load at a random address in a page or
 * a pack (kernel/bpf/core.c, bpf_jit_binary_pack_alloc). The address is a multiple of the
 * architecture's alignment, and the size of the code limits the choice. On x86, 4 to 14 places per
 * program were seen. Loads at the beginning of the run find them. Then each round loads the program
 * until it has one of the places used least so far. So all places are measured equally often
 * (stats/loads.h).
 */
struct bb_placement {
	uint32_t taken[BB_PLACES]; /* number of measured loads at each place (address modulo 64) */
	/* most_s: limit of the time for loads beyond one per round, s. spent_s: time that such
	 * loads took so far, s */
	double most_s, spent_s;
	double load_s; /* time of the longest load so far, s */
};

/* Finds the places of a loaded program by loading it again and again. `most_s` limits the time of
 * all loads in this run beyond one per round, s. Returns 0, or -errno with a message. */
int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err);

/* Loads the program for the next round, until it has one of the places used least so far. When the
 * time for such loads is over, accepts any place. Returns 0, or -errno with a message. */
int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err);

/* Returns the share of random loads that get the place `mod64`, 0 to 1; NAN: unknown. All places
 * have the same share unless the counts of all loads so far contradict this (chi-square, P < 0.1
 * %), because equal shares have no noise. */
double bb_placement_share(const struct bb_test_prog *prog, int mod64);

/* State of a case of the plan during a run. Cases of one drive and variant share a slot. */
struct bb_run_case {
	/* index of the first case of its drive and variant, whose slot the others use */
	size_t first;
	size_t next; /* index of the next case of its drive and variant; BB_NO_CASE: the last */
	struct bb_drive_slot *slot; /* slot of the drive in the present round (core/driver.h) */
	/* true: the last turn of the case gave fewer samples than wanted */
	bool is_slow;
};

/* A plan that is being measured into a report. */
struct bb_run {
	struct bb_session session;
	size_t *case_of; /* by case of the plan: index in the report; SIZE_MAX: not measured */
	struct bb_run_case *cases;
	uint64_t *ns; /* memory for the samples of one batch */
	size_t ns_size;
	/* expected time of the work, s: of the work done so far, and of the whole run */
	double done, total;
	uint64_t began_ns;
	/* round_ns: when the present round began. round_s: its share of the budget, s; INFINITY: no
	 * limit. drives_left: number of drives that the round has not yet measured. */
	uint64_t round_ns;
	double round_s;
	size_t drives_left;
	uint32_t rounds; /* as the plan's loads; fewer for slow programs, more for compared lines */
	bool is_cut;     /* true: at least one turn ended with fewer samples than wanted */
	struct bb_placement *places; /* places[i] are those of variant i of the scenario */
	struct bb_calm calm;
	/* measured in each round; NULL: no case needs them, or this machine cannot run them */
	struct bb_references *references;
};

/* Returns the report's case for a case of the plan; NULL: the case is not measured in this run. */
static inline struct bb_case *bb_run__case(const struct bb_run *r, size_t planned)
{
	return r->case_of[planned] == SIZE_MAX ? NULL
					       : &r->session.report->cases[r->case_of[planned]];
}

/* Measures one round: loads every variant, then runs the turns of each drive. Returns -EINTR after
 * a signal, or -ETIME at the end of the budget; samples taken until then are in the report. */
int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err);

/* Returns the number of samples in a turn of a case; 0: a turn has all samples of a round. Each
 * turn attaches the program anew, so exact samples, which no noise disturbs, have longer turns. */
uint32_t bb_round__turn(const struct bb_plan_case *c, bool is_exact);

/* Returns the number of samples that a case takes in each round. */
uint32_t bb_round__samples(const struct bb_plan_case *c);

/* Returns the expected time of a case per round, s. The progress bar uses it, so only the
 * proportions matter. */
double bb_round__expected_s(const struct bb_plan_case *c);

/* True if the case's figure depends on the program's place and needs a calm CPU. */
bool bb_round__is_placed(const struct bb_plan_case *c);
