/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_H
#define BB_RUN_SELFTEST_H

#include "base/err.h"
#include "base/record.h"
#include "base/std.h"
#include "plan/scenario.h"
#include "report/report.h"
#include "run/ab.h"
#include "stats/loads.h"
#include "stats/verdict.h"

/*
 * How well plain runs repeat on this machine: the scenario of the self-test is run as a plain run
 * again and again, in turns with the other experiments and with runs of its first program alone.
 */
/* Programs differ in the causes that move them between runs. */
enum bb_repeat_class {
	BB_REPEAT_CALM,
	BB_REPEAT_WAKES, /* it interrupts its own CPU */
	BB_REPEAT_COLD,  /* with emptied caches */
	BB_REPEAT_EMPTY, /* the floor: it moves all programs of its drive by as many ns */
	BB_REPEAT_EMPTY_COLD,
	BB_N_REPEAT_CLASSES
};

enum bb_repeat_of { BB_REPEAT_LATENCY, BB_REPEAT_RELATIVE, BB_N_REPEATS };

/* One program under one drive over all runs. */
struct bb_repeat_row {
	const char *program; /* borrowed from the scenario */
	enum bb_repeat_class class;
	struct bb_numbers ln[BB_N_REPEATS]; /* by run: of the figure */
	/* by run: ln of the second half of the loads over the first, loads of one place each */
	struct bb_numbers halves;
	struct bb_numbers alone; /* by run: ln of the latency, the program and its floor alone */
};

struct bb_repeat {
	struct bb_repeat_row *rows;
	size_t n_rows;
	struct bb_numbers clock, memory; /* ns of the references, by run and round, by run */
};

#define BB_REPEAT_LEAST 4 /* runs, to say how much they differ */

enum bb_repeat_class bb_repeat_class_of(const struct bb_report *r, const struct bb_case *c);

/*
 * The resolution of this machine: a program compared with itself, many times, by the very procedure
 * of `compare`.
 *
 * - same load: one load under both labels: timing noise alone
 * - reloads: two sets of loads: the placement by the JIT as well
 * - injected: reloads, and every sample of head made larger by a known share: power, and how often
 *   the interval covers the truth
 */
enum bb_selftest_mode {
	BB_SELFTEST_SAME_LOAD,
	BB_SELFTEST_RELOADS,
	BB_SELFTEST_INJECTED,
	BB_N_SELFTEST_MODES
};

const char *bb_selftest_mode_name(enum bb_selftest_mode mode);

/* All experiments of one program in one mode. */
struct bb_selftest_row {
	const char *program; /* variant's name, borrowed from the scenario */
	enum bb_selftest_mode mode;
	double injected;                  /* share; 0 for A/A */
	uint32_t n;                       /* experiments */
	uint32_t verdicts[BB_N_VERDICTS]; /* n in all */
	uint32_t covered;                 /* intervals that hold the true ratio */
	uint32_t voids;                   /* experiments without a single valid pair; not in n */
	struct bb_numbers log_ratios;     /* n estimates */
	struct bb_numbers half_widths;    /* n half widths of the interval of the log ratio */
	double seconds;                   /* spent in all */
};

struct bb_selftest_opts {
	struct bb_run_opts run;     /* budget_s: for all experiments together */
	double experiment_budget_s; /* for one of them at the most */
	double threshold, alpha, inject;
	const char *program;  /* only this variant; NULL: all but the floor */
	int mode;             /* only this mode; -1: all */
	uint32_t experiments; /* of each row; 0: as many as the budget allows */
	/* the same with a cold twin of its drive, for plain runs */
	const struct bb_scenario *plain;
	struct bb_ab_watch watch; /* of the samples of all experiments */
};

struct bb_selftest {
	struct bb_selftest_row *rows;
	size_t n_rows;
	/* 95th percentile of |ratio - 1| over the A/A of reloads; NAN: none */
	double resolution;
	struct bb_repeat repeat; /* of plain runs; empty where a program or mode was asked for */
};

/* Run the experiments in turns over the rows, so that all of them see the same machine. After
 * -EINTR the results so far stay. */
int bb_selftest__run(const struct bb_scenario *scenario, const struct bb_selftest_opts *opts,
		     struct bb_selftest *ret_selftest, struct bb_err *err);
void bb_selftest__done(struct bb_selftest *t);

/* By how much plain runs differ from their mean: 95 % half widths in ln, by several self-tests of
 * one machine together, as each found it on its own occasion (stats/loads.h). */
struct bb_between {
	/* of the worst program of the class; a half width of NAN: not known */
	struct bb_pooled_spread of[BB_N_REPEAT_CLASSES][BB_N_REPEATS];
	size_t n_selftests;
};

/* Self-tests are stored in RESULTS/selftest/ID.json: the counts, every estimate, and the machine
 * they are true of. */

/* `head` lends its id, time, command and fingerprint. */
int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err);

/*
 * The resolution (a share) by the newest stored self-test of a machine like `fp`. 0, -ENOENT
 * without a message when there is none, or another -errno.
 */
int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err);

/*
 * By how much plain runs differ from their mean, by the newest BB_SELFTESTS_POOLED stored
 * self-tests of a machine like `fp`, with `now` (NULL: none) one of them. 0; -ENOENT without a
 * message when there is none, or another -errno.
 */
#define BB_SELFTESTS_POOLED 12
int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between,
			      struct bb_err *err);

#endif
