/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/session.h"

/* The references of a run (core/metric.h): loaded once, and measured by test runs before the turns
 * of every drive in every round. */
struct bb_references;

/* Opens the references. `object_dir` contains references.bpf.o. Returns -ENOTSUP if the kernel
 * lacks a feature, or -errno. */
int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err);

/* Measures the present cost of one more piece of each reference, ns (drivers/fit_line.h), in
 * about 4 ms. NAN: it failed. If `r` is NULL all are NAN. */
void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES]);

void bb_references__free(struct bb_references *r); /* takes NULL */

/*
 * Tells whether this CPU is as fast as it was. It times a fixed piece of work in user space with
 * several instructions per cycle. The work slows down when another machine of the host runs on the
 * same core, or when the clock does. No VM can see the host's SMT, nor does steal show it: on an
 * AMD EPYC VM a loop took 1.5 to 2.1 times as long, for 40 ms to a second. A program's turn waits
 * until the CPU is calm. After the time limit it is measured anyway.
 */
struct bb_calm {
	double best_ns;           /* shortest time of the work so far */
	double waited_s, most_s;  /* time waited in this run, and the limit of it, s */
	unsigned int turns, late; /* number of all turns, and of turns that began although the CPU
				     was not calm */
};

/* Begins a run that may wait for a calm CPU for `most_s` in all, s. */
void bb_calm__begin(struct bb_calm *c, double most_s);

/* Waits until the CPU is calm. Returns false if it is not when the waiting time or the deadline
 * is over. */
bool bb_calm__wait(struct bb_calm *c);

/*
 * Places of a program's loads in a run. The kernel puts each load at a random address in a page or
 * a pack (kernel/bpf/core.c, bpf_jit_binary_pack_alloc). The address is a multiple of the
 * architecture's alignment, and the size of the code limits it: on x86, 4 to 14 addresses modulo 64
 * were seen. Loading finds them. Then each round loads the program until it has one of the places
 * used least so far, so all places are measured equally often (stats/loads.h).
 */
struct bb_placement {
	uint32_t taken[BB_PLACES]; /* measured loads by place */
	/* time for loads beyond one per round, s: the limit, and what was spent so far */
	double most_s, spent_s;
	double load_s; /* time of the longest load so far, s */
};

/* Finds the places of a loaded program by loading it again and again. `most_s` limits the time
 * of all loads beyond one per round in this run, s. Returns 0, or -errno with a message. */
int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err);

/* Loads the program for the next round, until it has one of the places used least so far. When
 * the time is over, any place will do. Returns 0, or -errno with a message. */
int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err);

/*
 * Returns the share of random loads at place `mod64`, from all loads so far. Shares are equal
 * unless the counts contradict it (chi-square, P < 0.1 %), because an equal share has no noise.
 * NAN: unknown.
 */
double bb_placement_share(const struct bb_test_prog *prog, int mod64);

/* State of a case of the plan during a run. Cases of one drive and variant share a slot. */
struct bb_run_case {
	size_t first; /* first case of its drive and variant, which holds the shared parts */
	size_t next;  /* next case of its drive and variant; BB_NO_CASE at the end */
	struct bb_drive_slot *slot; /* slot of this round */
	bool is_slow;               /* its last turn gave fewer samples than asked */
};

/* A plan on its way into a report. */
struct bb_run {
	struct bb_session session;
	size_t *case_of; /* index in the report of each case of the plan; SIZE_MAX: the case is not
			    measured here */
	struct bb_run_case *cases;
	uint64_t *ns; /* samples of one batch */
	size_t ns_size;
	double done, total; /* seconds of expected work */
	uint64_t began_ns;
	/* of this round: when it began, its share of the budget in s (INFINITY: no limit), its
	 * drives left */
	uint64_t round_ns;
	double round_s;
	size_t drives_left;
	uint32_t rounds; /* rounds to measure: the plan's loads, or fewer for slow programs */
	bool is_cut;     /* a turn of a round ended with fewer samples than wanted */
	struct bb_placement *places; /* by index of the scenario's variant */
	struct bb_calm calm;
	/* NULL: no case needs them, or this machine cannot run them */
	struct bb_references *references;
};

/* Returns the report's case for a case of the plan; NULL if it is not measured here. */
static inline struct bb_case *bb_run__case(const struct bb_run *r, size_t planned)
{
	return r->case_of[planned] == SIZE_MAX ? NULL
					       : &r->session.report->cases[r->case_of[planned]];
}

/* Measures one round: loads every variant, then runs the turns of each drive. Returns -EINTR after
 * a signal, or -ETIME at the end of the budget; samples taken until then are in the report. */
int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err);

/* Returns the number of samples that a case takes in each round. */
uint32_t bb_round__samples(const struct bb_plan_case *c);

/* Returns the expected time of a case per round, s. Only proportions matter, for the progress
 * bar. */
double bb_round__expected_s(const struct bb_plan_case *c);

/* True if the case's figure depends on the program's place and needs a calm CPU. */
bool bb_round__is_placed(const struct bb_plan_case *c);
