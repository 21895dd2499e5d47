/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cli/options.h"
#include "cli/output.h"
#include "env/sysfile.h"
#include "run/runner.h"

/* What the commands that measure share (run, compare, gate, selftest): options, and the beginning
 * and the end of a measurement. */
struct bb_measure_args {
	int cpu; /* -1 means the last CPU that this process may use */
	uint64_t seed;
	bool has_budget;
	double budget_s;
	const struct bb_exporter *format; /* NULL means that the command prints its own output */
	const char *output, *results;
	bool no_store, quiet, verbose, no_wait, allow_system_wide;
	/* true if bpfbench runs in a guest of --vm, whose clock counts instructions. A run there
	 * succeeds even if all cases were skipped. */
	bool is_in_guest;
	bool marks; /* sets marks around runs, for a plugin of QEMU (bpf/marks.h) */
	/* variables that workloads, builds and captured commands keep */
	struct bb_strings env;
	char *command; /* the command line, for the report */
	/* the kernels of --vm, separated by commas; NULL without --vm */
	const char *kernels;
	double vm_limit_s; /* most CPU time of a guest, s */
};

#define BB_VM_LIMIT_S 300.0

/* Sets the defaults; call it before bb_usage__parse(). */
void bb_measure_args__init(struct bb_measure_args *a, char **argv, double budget_s);

extern const struct bb_option bb_measure_options[], bb_measure_output[];
/* The options of bb_measure_output without its first two, --format and --output. */
#define bb_measure_storing (bb_measure_output + 2)
#define BB_MEASURE_SETS(at)                                                                        \
	{"How to measure:", bb_measure_options, at},                                               \
	{                                                                                          \
		"Output:", bb_measure_output, at                                                   \
	}

/* A progress bar on stderr with the time left, drawn at most ten times a second. It is off if
 * stderr is not a terminal. */
struct bb_progress_bar {
	bool on;
	bool verbose;   /* prints a line for each turn of a case, also without a terminal */
	char told[256]; /* the case that the last such line named */
	uint64_t began_ns, drawn_ns;
	struct bb_progress callbacks; /* for bb_run_plan() */
};

struct bb_progress_bar bb_progress_bar__make(bool quiet);

/* `done` of `total` seconds of the expected work are done. `what` is the text on the right. */
void bb_progress_bar__update(struct bb_progress_bar *bar, double done, double total,
			     const char *what);
void bb_progress_bar__erase(struct bb_progress_bar *bar);
void bb_progress_bar__end(struct bb_progress_bar *bar); /* erases it, and draws it no more */

struct bb_measure {
	const struct bb_measure_args *args;
	struct bb_report *report;
	struct bb_run_opts opts; /* for bb_run_plan() and bb_run_ab() */
	struct bb_progress_bar bar;
	struct bb_cpu_times before;
	bool timed;
	uint64_t began_ns;
};

/* Sets the time of a run, its command line, and its id: the time, `name`, and the nanoseconds of
 * the clock. */
void bb_measure__name_run(struct bb_report *r, const struct bb_measure_args *a, const char *name);

/* Checks that the output can be written, chooses the CPUs, and starts the report and the progress
 * bar. If `takes_cpu`, also locks the CPU on which the programs will run. Returns 0 or -errno with
 * a message. */
int bb_measure__begin(const struct bb_measure_args *a, const char *name, bool takes_cpu,
		      struct bb_measure *ret_m, struct bb_err *err);

/* Finishes a measurement that ended with `rc`. Stores the run, which is marked as incomplete after
 * an error. If a format is chosen, writes the run in that format, unless there was an error. After
 * an error, or if that format is not for people, also prints a table on stderr. Returns the exit
 * code. */
int bb_measure__deliver(struct bb_measure *m, int rc, struct bb_err *err);

/* Stores the output of `writer` as the file ID.suffix beside the run, unless it is empty.
 * `*ret_path` (may be NULL) receives the path. Free it. Returns 0 or -errno with a message. */
int bb_measure__store_beside(const struct bb_measure *m, const char *suffix,
			     bb_output_writer writer, void *arg, char **ret_path,
			     struct bb_err *err);

void bb_measure__end(struct bb_measure *m);

/* Returns -ERANGE with a message if the newest self-test on a machine with the fingerprint `fp`
 * found that it cannot judge differences as small as `threshold`. `fp` NULL means this machine.
 * Returns 0 if there is no such self-test. */
int bb_check_resolution(double threshold, const char *results, const struct bb_fingerprint *fp,
			struct bb_err *err);

/* Prints on stderr what could not be measured, and why. */
void bb_print_skips(const struct bb_report *r);

/* *ret_cpu is the CPU for the programs: `wanted` or, if that is -1, the last CPU that this process
 * may use. *ret_poll_cpu, the CPU that polls, is the first other CPU, or *ret_cpu if there is no
 * other. Returns -EINVAL if this process may not use `wanted`. */
int bb_machine_cpus(int wanted, int *ret_cpu, int *ret_poll_cpu, struct bb_err *err);

/* Chooses the CPUs as bb_machine_cpus() does. Locks *ret_cpu until this process ends
 * (base/give_way.h), so that no other bpfbench measures there. If it is locked already and `wanted`
 * is -1, tries other CPUs. If none is free, names the holder on stderr and waits, or returns -EBUSY
 * if `no_wait`. Returns -EINTR if a signal ended the wait. Without root it locks nothing. */
int bb_machine_take_cpus(int wanted, bool no_wait, int *ret_cpu, int *ret_poll_cpu,
			 struct bb_err *err);
