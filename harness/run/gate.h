/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "capture/supervise.h"
#include "judge/gate.h"
#include "run/object_scenario.h"
#include "run/runner.h"

/* Options for comparing the BPF programs of two git revisions, base and head. Both are built, and
 * each program that both have is compared (run/ab.h). If a program got slower, a second measurement
 * with other loads and another seed must confirm it. */
struct bb_gate_opts {
	const char *dir;
	const char *base, *head; /* head is NULL for the work tree with its changes */
	/* true to compare with the last commit that `base` and `head` have in common */
	bool merge_base;
	const char *build; /* shell command that builds (NULL means `make`) */
	/* names of further environment variables for the build (base/child.h); may be NULL */
	const char *const *env;
	/* paths of the objects in the tree (empty means all files *.bpf.o) */
	struct bb_strings objects;
	/* Command to run in each build with root's rights, unlike the build itself. The programs
	 * that it loads are compared instead of objects. NULL means to compare objects. */
	const struct bb_capture_opts *capture;
	/* scenario file whose variants are compared instead of all programs; may be NULL */
	const char *scenario;
	/* Drives of the scenario to use. Empty means all except those that measure for a fixed
	 * time, because their pairs take long and seldom give a verdict. */
	struct bb_strings drives;
	/* options for the scenarios that are made for objects if `scenario` is NULL */
	struct bb_object_opts drive;
	bool exact; /* true if any increase of an instruction count is a regression, too */
	bool force; /* true to measure also programs of objects that did not change */
	/* true to only build and compare the files, without root, because guests (--vm) measure */
	bool guests;
	double threshold, alpha;
	/* limits of head's verified instructions (struct bb_gate) */
	double complexity, grow;
	/* time for a program in each measurement, s (more if this is too short for a verdict) */
	double each_s;
	double budget_s; /* time for all but the builds, s (0 means no limit) */
	/* called at each step with a line of text about it */
	void (*say)(const char *what);
};

/* A gate in progress. The caller only reads it. */
struct bb_gate_run {
	const struct bb_gate_opts *opts;
	struct bb_gate gate;
	struct bb_gate_builds *builds;
	struct bb_gate_job *jobs;
	size_t n_jobs;
	bool takes_cpu;
};

/* Builds both revisions and finds the programs to compare. Returns -ENOENT if no revision has an
 * object, -EINTR, or an error of run/gate_build.h or of the scenario reader. */
int bb_gate_run__open(const struct bb_gate_opts *opts, struct bb_gate_run **ret_run,
		      struct bb_err *err);

/* Returns how many programs the next measurement will measure: all if `first` is NULL, otherwise
 * those with a regression in the report `first`. */
size_t bb_gate_run__todo(const struct bb_gate_run *run, const struct bb_report *first);

/* Measures all programs. If `first`, a judged report, is not NULL, measures only those with a
 * regression in it. A program that cannot be measured becomes BB_GATE_FAILED if head's version does
 * not load but base's does, otherwise BB_GATE_SKIPPED. The gate then points into `report`, so free
 * `report` after the gate. Returns the errors of bb_run_ab(). */
int bb_gate_run__measure(struct bb_gate_run *run, const struct bb_run_opts *opts,
			 const struct bb_report *first, struct bb_report *report,
			 struct bb_err *err);

/* Removes the builds. Returns -errno with a message if a file is left. `run` may be NULL. */
int bb_gate_run__close(struct bb_gate_run *run, struct bb_err *err);
