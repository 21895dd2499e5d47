/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "run/ab.h"
#include "stats/loads.h"

/* This file says how well plain runs (runs without a comparison) repeat on this machine. The
 * self-test makes plain runs of its scenario again and again, between its other experiments. */

/* Classes of programs, by the causes that change their latency from run to run. */
enum bb_repeat_class {
	BB_REPEAT_CALM,
	BB_REPEAT_WAKES, /* programs that interrupt their own CPU */
	BB_REPEAT_COLD,  /* programs measured with emptied caches */
	/* the floor; all programs of its drive change by as many ns as it does */
	BB_REPEAT_EMPTY,
	BB_REPEAT_EMPTY_COLD,
	BB_N_REPEAT_CLASSES
};

enum bb_repeat_of { BB_REPEAT_LATENCY, BB_REPEAT_RELATIVE, BB_N_REPEATS };

/* The figures of one program under one drive, from all plain runs. */
struct bb_repeat_row {
	const char *program; /* borrowed from the scenario */
	enum bb_repeat_class class;
	/* ln of the latency and of the relative latency, one number per run */
	struct bb_numbers ln[BB_N_REPEATS];
	/* ln(latency in the second half of a run's loads / latency in the first half): mean over
	 * the places that both halves have; one number per run */
	struct bb_numbers halves;
	/* ln of the latency in runs of only this program and its floor; one number per run */
	struct bb_numbers alone;
};

struct bb_repeat {
	struct bb_repeat_row *rows;
	size_t n_rows;
	struct bb_numbers clock;  /* time of the reference of instructions in each round, ns */
	struct bb_numbers memory; /* time of the reference of memory in each run, ns */
};

#define BB_REPEAT_LEAST 4 /* fewest runs from which their spread is known */

/* Returns the class of the program that the case `c` of the report measures. */
enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c);

/*
 * The resolution of this machine. To find it, the self-test compares a program with itself many
 * times, in the same way as `compare`.
 *
 * - same load: one load is both base and head. This shows only the noise of timing.
 * - reloads: base and head have loads of their own. This also shows the effect of their places.
 * - injected: like reloads, but every sample of head is made larger by a known share. This shows
 * how often a regression is found, and how often the interval holds the true ratio.
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
	const char *program; /* name of the variant; borrowed from the scenario */
	enum bb_selftest_mode mode;
	/* share added to each sample of head; 0: nothing is added */
	double injected;
	uint32_t n;                       /* number of experiments with a valid pair */
	uint32_t verdicts[BB_N_VERDICTS]; /* number of these experiments by verdict */
	uint32_t covered; /* how many of them have the true ratio in their interval, or have none */
	/* number of experiments without a valid pair; `n` does not include them */
	uint32_t voids;
	struct bb_numbers log_ratios;  /* the n estimates of ln(head / base) */
	struct bb_numbers half_widths; /* half widths of the n intervals of ln(head / base) */
	double seconds;                /* time of all experiments of the row, s */
};

struct bb_selftest_opts {
	struct bb_run_opts run;     /* run.budget_s is the limit of all experiments together */
	double experiment_budget_s; /* limit for one experiment, s */
	double threshold, alpha, inject;
	const char *program;  /* use only this variant; NULL: all except the floor */
	int mode;             /* use only this mode (enum bb_selftest_mode); -1: all */
	uint32_t experiments; /* number of experiments per row; 0: as many as the budget allows */
	/* scenario for plain runs: the scenario of the experiments and one more drive, which
	 * empties the caches before each run */
	const struct bb_scenario *plain;
	struct bb_ab_watch watch; /* receives the samples of all experiments */
};

struct bb_selftest {
	struct bb_selftest_row *rows;
	size_t n_rows;
	/* 95th percentile of |ratio - 1| in all experiments with reloads; NAN: there were none */
	double resolution;
	/* how well plain runs repeat; empty if opts->program or opts->mode is given */
	struct bb_repeat repeat;
};

/* Runs one experiment of each row in turn, again and again, so that all rows are measured in the
 * same conditions. Returns 0, -EINTR after a signal, or -errno with a message. `*ret_selftest` has
 * the results so far also after an error. */
int bb_selftest__run(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
		     struct bb_selftest *ret_selftest, struct bb_err *err);
void bb_selftest__done(struct bb_selftest *t);

/* How much plain runs differ from their mean: half widths of 95 % intervals of ln, pooled over
 * several self-tests of one machine (stats/loads.h). */
struct bb_between {
	/* by class and figure: spread of the program that varies most; half_width NAN: unknown */
	struct bb_pooled_spread of[BB_N_REPEAT_CLASSES][BB_N_REPEATS];
	size_t n_selftests;
};

/* A stored self-test is RESULTS/selftest/ID.json. It holds the counts, every estimate, and the
 * fingerprint of the machine. */

/* Writes a self-test, with the id, time, command and fingerprint of `head`. */
int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err);

/* Reads the resolution (a share: 0.01 is 1 %) from the newest self-test of a machine like `fp`.
 * Returns 0, -ENOENT without a message if there is none, or -errno. */
int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err);

/* Pools the newest BB_SELFTESTS_POOLED self-tests of a machine like `fp`, including the self-test
 * `now`, which is not stored yet; `now` may be NULL. Returns 0, -ENOENT without a message if there
 * is none, or -errno. */
#define BB_SELFTESTS_POOLED 12
int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between);
