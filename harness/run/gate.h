/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_GATE_H
#define BB_RUN_GATE_H

#include "base/err.h"
#include "base/std.h"
#include "capture/supervise.h"
#include "judge/gate.h"
#include "report/report.h"
#include "run/object_scenario.h"
#include "run/runner.h"

/*
 * The programs of two revisions of a git repository against each other: both are built, and each
 * program that is in both is compared by run/ab.h. An alert is to be confirmed by a second
 * measurement, with other loads and another seed.
 */
struct bb_gate_opts {
	const char *dir;           /* in the repository */
	const char *base, *head;   /* revisions; head NULL: the work tree as it is */
	bool merge_base;           /* the base is the last commit that both have */
	const char *build;         /* shell command; NULL: make */
	const char *const *env;    /* variables that it keeps; NULL: none (base/child.h) */
	struct bb_strings objects; /* paths in the tree; none: all that are called *.bpf.o */
	/*
	 * Instead of objects: run this command in each build and capture what it loads; NULL. It
	 * has root's rights, as the build has not.
	 */
	const struct bb_capture_opts *capture;
	/* file: its variants and drives instead of all programs; NULL */
	const char *scenario;
	/* of its drives these; none: all but those that go by time, as a pair of theirs takes as
	 * long as the verdicts of all others and seldom decides anything */
	struct bb_strings drives;
	/* programs, trigger, packets and contexts, without a scenario */
	struct bb_object_opts drive;
	bool exact; /* an instruction more is a regression, too */
	bool force; /* measure objects that are the same, too */
	double threshold, alpha;
	/* budget of a program; again if it has to be confirmed; more where too few pairs fit */
	double each_s;
	double budget_s;               /* of all but the builds; 0: there is none */
	void (*say)(const char *what); /* reports the step in progress, in a line */
};

/* Made by bb_gate_run__open(); read alone. */
struct bb_gate_run {
	const struct bb_gate_opts *opts;
	struct bb_gate gate;
	struct bb_gate_builds *builds;
	/* programs to be compared, each with a scenario and a plan */
	struct bb_gate_job *jobs;
	size_t n_jobs;
	bool takes_cpu; /* bb_plan_takes_cpu() of any of them */
	double spent_s; /* on both captures and to find the programs: on all but the builds */
};

/*
 * Build both revisions and find the programs to compare. Errors: those of run/repo.h; -ENOENT when
 * there is no object, or none in both; of the scenario's reader; -EINTR.
 */
int bb_gate_run__open(const struct bb_gate_opts *opts, struct bb_gate_run **ret_run,
		      struct bb_err *err);

/* How many programs are to be measured: all of them at first; `again`: those with an alert in
 * `first`. */
size_t bb_gate_run__todo(const struct bb_gate_run *run, const struct bb_report *first);

/*
 * Measure them: all, or with `first` (judged) those that have an alert in it. A program that one
 * revision has and the machine cannot run becomes BB_GATE_SKIPPED or BB_GATE_FAILED. The gate then
 * borrows from the report. Errors as bb_run_ab().
 */
int bb_gate_run__measure(struct bb_gate_run *run, const struct bb_run_opts *opts,
			 const struct bb_report *first, struct bb_report *report,
			 struct bb_err *err);

/* Remove the builds. 0, or -errno with a message when some file is left. Takes NULL. */
int bb_gate_run__close(struct bb_gate_run *run, struct bb_err *err);

#endif
