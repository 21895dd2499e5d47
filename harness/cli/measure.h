/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_MEASURE_H
#define BB_CLI_MEASURE_H

#include "base/std.h"
#include "cli/options.h"
#include "env/sysfile.h"
#include "report/report.h"
#include "run/runner.h"

/* The common part of the commands that measure (run, compare, selftest): options, the report's
 * head, its delivery. */
struct bb_measure_args {
	int cpu; /* -1: the last one allowed */
	uint64_t seed;
	bool has_budget;
	double budget_s;
	const struct bb_exporter *format; /* NULL: the command prints something that is none */
	const char *output, *results;
	bool no_store, quiet, verbose, no_wait, allow_system_wide;
	struct bb_strings env; /* for workloads, builds and captured commands */
	char *command;         /* argv in one line, as the report has it */
};

/* Defaults, before the options are read. */
void bb_measure_args__init(struct bb_measure_args *a, int argc, char **argv, double budget_s);

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
	struct bb_report *report;
	struct bb_run_opts opts; /* for bb_run_plan() and bb_run_ab() */
	struct bb_progress_bar bar;
	struct bb_cpu_times before;
	bool timed;
	uint64_t began_ns;
};

/*
 * Everything that precedes measuring: the output and results that can be written, CPUs, the
 * report with its id (time, `name`, a random tag), command line and fingerprint, the progress bar.
 */
int bb_measure__begin(const struct bb_measure_args *a, const char *name, bool takes_cpu,
		      struct bb_measure *ret_m, struct bb_err *err);

/*
 * Everything that follows, given how measuring ended (`rc`): summaries, the stored run (marked
 * incomplete after an error), the table on stderr, and on success the chosen format on stdout.
 * Returns the exit code.
 */
int bb_measure__deliver(struct bb_measure *m, int rc, struct bb_err *err);

void bb_measure__end(struct bb_measure *m);

/*
 * A threshold below the resolution of the machine, as its newest self-test found it, is refused:
 * -ERANGE with the explanation. 0 when there is no self-test of such a machine. `fp` NULL: this
 * machine.
 */
int bb_check_resolution(double threshold, const char *results, const struct bb_fingerprint *fp,
			struct bb_err *err);

/* What could not be measured, on stderr. */
void bb_print_skips(const struct bb_report *r);

/*
 * Which CPU programs run on and which one polls: `wanted` (-1: the last CPU we may use) and the
 * first other one; the same twice when there is only one. -EINVAL when `wanted` is none of ours.
 */
int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err);

/*
 * Likewise, but no other bpfbench measures on that CPU, from now until this process ends
 * (base/cpu_lock.h). Where `wanted` is -1 and the last CPU is taken, it is the last but one, polled
 * from the second, and so on, so that no two share a CPU. If all are taken, it names the holder on
 * stderr and waits; with `no_wait` it returns -EBUSY, and the message names the holder. -EINTR: a
 * signal ended the wait. Root only: without root nothing is locked.
 */
int bb_machine_take_cpus(int wanted, bool no_wait, int *ret_cpu, int *ret_poll_cpu,
			 struct bb_err *err);

#endif
