/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/ab.h"
#include "stats/loads.h"

/* How well plain runs (without a comparison) repeat on this machine. The self-test makes plain runs
 * again and again, between its other experiments. */

/* Classes of programs, by what changes their latency from run to run. */
enum bb_repeat_class {
	BB_REPEAT_CALM,
	BB_REPEAT_WAKES, /* programs that interrupt their own CPU */
	BB_REPEAT_COLD,  /* programs measured with emptied caches */
	/* the floor, whose changes are in the latency of all programs */
	BB_REPEAT_EMPTY,
	BB_REPEAT_EMPTY_COLD,
	BB_N_REPEAT_CLASSES
};

enum bb_repeat_of { BB_REPEAT_LATENCY, BB_REPEAT_RELATIVE, BB_N_REPEATS };

/* The figures of one program under one drive, from all plain runs. Each list has one number per
 * run. */
struct bb_repeat_row {
	const char *program;
	enum bb_repeat_class class;
	/* ln of the latency and of the relative latency */
	struct bb_numbers ln[BB_N_REPEATS];
	/* ln(latency in the second half of a run's loads / in the first half): the mean over the
	 * places (JIT addresses modulo 64) that both halves have */
	struct bb_numbers halves;
	/* ln of the latency in runs of only this program and its floor */
	struct bb_numbers alone;
};

struct bb_repeat {
	struct bb_repeat_row *rows;
	size_t n_rows;
	struct bb_numbers clock;  /* time of the fixed work with instructions in each round, ns */
	struct bb_numbers memory; /* time of the fixed work with memory in each run, ns */
};

#define BB_REPEAT_LEAST 4 /* fewest runs for computing a spread */

enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c);

/*
 * The self-test compares a program with itself many times, as `compare` does, to find the
 * resolution of this machine (the smallest difference that it can tell). In "same load", base and
 * head are one load, which shows only the noise of timing. In "reloads", each has loads of its own,
 * which also shows the effect of their addresses. "Injected" is like reloads, but every sample of
 * head is made larger by a known share. It shows how often a regression is found, and how often the
 * interval holds the true ratio.
 */
enum bb_selftest_mode {
	BB_SELFTEST_SAME_LOAD,
	BB_SELFTEST_RELOADS,
	BB_SELFTEST_INJECTED,
	BB_N_SELFTEST_MODES
};

const char *bb_selftest_mode_name(enum bb_selftest_mode mode);

/* All experiments with one program in one mode. */
struct bb_selftest_row {
	const char *program; /* variant's name, borrowed from the scenario */
	enum bb_selftest_mode mode;
	/* share added to each sample of head, or 0 */
	double injected;
	uint32_t n; /* experiments with a valid pair */
	uint32_t verdicts[BB_N_VERDICTS];
	uint32_t covered; /* those whose interval holds the true ratio or is missing */
	/* experiments without a valid pair; `n` does not include them */
	uint32_t voids;
	struct bb_numbers log_ratios;  /* n estimates of ln(head / base) */
	struct bb_numbers half_widths; /* half widths of their intervals */
	double seconds;
};

struct bb_selftest_opts {
	struct bb_run_opts run; /* run.budget_s limits all experiments together */
	double experiment_budget_s;
	double threshold, alpha, inject;
	const char *program;  /* the only variant to use (NULL means all except the floor) */
	int mode;             /* the only enum bb_selftest_mode to use (-1 means all) */
	uint32_t experiments; /* experiments per row (0 means as the budget allows) */
	/* scenario for plain runs (its last drive empties the caches before each run) */
	const struct bb_scenario *plain;
	struct bb_ab_watch watch;
};

struct bb_selftest {
	struct bb_selftest_row *rows;
	size_t n_rows;
	/* 95th percentile of |ratio - 1| in all experiments with reloads; NAN without them */
	double resolution;
	/* empty if opts->program or opts->mode is given */
	struct bb_repeat repeat;
};

/* Runs one experiment of each row in turn, again and again, so that all rows are measured in the
 * same conditions. Returns 0, -EINTR after a signal, or -errno with a message. After an error,
 * *ret_selftest has the results so far. */
int bb_selftest__run(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
		     struct bb_selftest *ret_selftest, struct bb_err *err);
void bb_selftest__done(struct bb_selftest *t);

/* Half widths of 95 % intervals of ln(plain run / mean), pooled over several self-tests of one
 * machine (stats/loads.h). */
struct bb_between {
	/* by class and figure: of the program that varies most (half_width is NAN if unknown) */
	struct bb_pooled_spread of[BB_N_REPEAT_CLASSES][BB_N_REPEATS];
	size_t n_selftests;
};

/* A stored self-test is RESULTS/selftest/ID.json. It has the counts, every estimate, and the
 * machine's fingerprint (kernel, CPU and the like). */

/* Writes a self-test, with the id, time, command and fingerprint of `head`. */
int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err);

/* Reads the resolution (0.01 is 1 %) from the newest self-test of a machine like `fp`. Returns
 * -ENOENT without a message if there is none, or another -errno. */
int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err);

/* Pools the newest BB_SELFTESTS_POOLED self-tests of a machine like `fp`. `now` is one that is not
 * stored yet, or NULL. Returns -ENOENT without a message if there is none, or another -errno. */
#define BB_SELFTESTS_POOLED 12
int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between);
