/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/supervise.h"
#include "judge/gate.h"
#include "run/object_scenario.h"
#include "run/runner.h"

/* Options for comparing the programs of two revisions of a git repository. Both revisions are
 * built, and each program that is in both is compared (run/ab.h). A second measurement with other
 * loads and another seed must confirm an alert. */
struct bb_gate_opts {
	const char *dir;         /* a folder in the repository */
	const char *base, *head; /* revisions; head NULL: the work tree with its changes */
	/* true: the base is the last commit that `base` and `head` have in common */
	bool merge_base;
	const char *build; /* shell command that builds; NULL: `make` */
	/* names of further environment variables that the build keeps (base/child.h); NULL: none */
	const char *const *env;
	struct bb_strings objects; /* paths of the objects in the tree; empty: all files *.bpf.o */
	/* command to run in each build; the programs that it loads are compared in place of
	 * objects. It has root's rights, unlike the build. NULL: objects are compared */
	const struct bb_capture_opts *capture;
	/* path of a scenario whose variants are compared in place of all programs; NULL: none */
	const char *scenario;
	/* only these drives of the scenario. Empty: all drives except those that measure for a
	 * fixed time, because their pairs take long and seldom give a verdict */
	struct bb_strings drives;
	/* options for the scenarios that are made for programs of objects; used only if `scenario`
	 * is NULL */
	struct bb_object_opts drive;
	bool exact; /* true: any increase of instruction counts is a regression, too */
	bool force; /* true: also measure programs of objects that are equal in both revisions */
	/* only build the objects and compare them as files, without root; guests of --vm measure */
	bool guests;
	double threshold, alpha;
	/* limits of head's verified instructions, as in struct bb_gate (judge/gate.h) */
	double complexity, grow;
	/* budget of a program in each measurement, s; a program gets more if too few pairs fit */
	double each_s;
	double budget_s; /* budget for everything but the builds, s; 0: no limit */
	/* called at each step of the gate, with a line about this step */
	void (*say)(const char *what);
};

/* A gate in progress, from bb_gate_run__open(). The caller only reads it. */
struct bb_gate_run {
	const struct bb_gate_opts *opts;
	struct bb_gate gate;
	struct bb_gate_builds *builds;
	/* programs to be compared, each with a scenario and a plan */
	struct bb_gate_job *jobs;
	size_t n_jobs;
	bool takes_cpu; /* true: a job needs a CPU of its own (bb_plan_takes_cpu()) */
};

/* Builds both revisions and finds the programs to compare. Returns 0; -ENOENT if neither revision
 * has an object; -EINTR; or an error of run/gate_build.h or of the scenario reader. */
int bb_gate_run__open(const struct bb_gate_opts *opts, struct bb_gate_run **ret_run,
		      struct bb_err *err);

/* Returns how many programs the next measurement will measure: all if `first` is NULL, otherwise
 * those with an alert in the report `first`. */
size_t bb_gate_run__todo(const struct bb_gate_run *run, const struct bb_report *first);

/*
 * Measures all programs or, if `first` (a judged report) is not NULL, those with an alert in it. A
 * program that cannot be measured becomes BB_GATE_FAILED if head's version does not load and base's
 * does, otherwise BB_GATE_SKIPPED. The gate then has pointers into the report, so free the report
 * last. Returns the errors of bb_run_ab().
 */
int bb_gate_run__measure(struct bb_gate_run *run, const struct bb_run_opts *opts,
			 const struct bb_report *first, struct bb_report *report,
			 struct bb_err *err);

/* Removes the builds. Returns 0, or -errno with a message if a file is left. `run` may be NULL. */
int bb_gate_run__close(struct bb_gate_run *run, struct bb_err *err);
