/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_H
#define BB_RUN_SELFTEST_H

#include <stdint.h>

#include "base/err.h"
#include "plan/scenario.h"
#include "run/ab.h"
#include "run/selftest_plain.h"
#include "stats/verdict.h"

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
	double *log_ratios;               /* n estimates */
	double *half_widths;              /* n half widths of the interval of the log ratio */
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

#endif
