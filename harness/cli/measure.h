/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_MEASURE_H
#define BB_CLI_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/paths.h"
#include "cli/options.h"
#include "env/proc_counts.h"
#include "export/exporter.h"
#include "report/report.h"
#include "run/runner.h"

/* The common part of the commands that measure (run, compare, selftest): options, the report's
 * head, its delivery. */
struct bb_measure_args {
	int cpu; /* -1: the last one allowed */
	uint64_t seed;
	bool has_budget;
	double budget_s;
	const struct bb_exporter *format;
	bool has_format; /* by --format */
	const char *output, *results;
	bool no_store, quiet, verbose, no_wait, allow_system_wide;
	struct bb_env_names env; /* for workloads, builds and captured commands */
};

/* Defaults. `format` is the command's own; NULL: it prints something that is no format, unless
 * --format is given. */
void bb_measure_args__init(struct bb_measure_args *a, const char *format, double budget_s);

/* Sets of struct bb_usage that go into a struct bb_measure_args, for all of these commands. */
extern const struct bb_option bb_measure_options[], bb_measure_output[];
#define BB_MEASURE_SETS(at)                                                                        \
	{"How to measure:", bb_measure_options, at},                                               \
	{                                                                                          \
		"Output:", bb_measure_output, at                                                   \
	}

/* A bar with the time left on stderr, ten times a second; nothing at all when stderr is not a
 * terminal. */
struct bb_progress_bar {
	bool on;
	uint64_t began_ns, drawn_ns;
	struct bb_progress callbacks; /* for bb_run_plan() */
};

void bb_progress_bar__end(struct bb_progress_bar *bar); /* wipe the line */

struct bb_measure {
	const struct bb_measure_args *args;
	struct bb_paths paths;
	struct bb_report *report;
	struct bb_run_opts opts; /* for bb_run_plan() and bb_run_ab() */
	struct bb_progress_bar bar;
	struct bb_cpu_times before;
	bool timed;
	uint64_t began_ns;
};

/*
 * Everything that precedes measuring: paths, the output and results that can be written, CPUs, the
 * report with its id (time, `name`, a random tag), command line and fingerprint, the progress bar.
 */
int bb_measure__begin(const struct bb_measure_args *a, const char *name, const char *command,
		      bool takes_cpu, struct bb_measure *ret_m, struct bb_err *err);

/*
 * Everything that follows, given how measuring ended (`rc`): summaries, the stored run (marked
 * incomplete after an error), the table on stderr, and on success the chosen format on stdout.
 * Returns the exit code.
 */
int bb_measure__deliver(struct bb_measure *m, int rc, struct bb_err *err);

void bb_measure__end(struct bb_measure *m);

/* What could not be measured, on stderr. */
void bb_print_skips(const struct bb_report *r);

/* argv in one line; free() it. */
char *bb_command_line(int argc, char **argv);

#endif
