/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_COMPARE_SHOW_H
#define BB_CLI_COMPARE_SHOW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/options.h"
#include "plan/plan.h"
#include "report/report.h"
#include "stats/verdict.h"

/* The output and exit code of `compare`, for comparisons measured now and for stored runs. */
struct bb_compare_opts {
	double threshold, alpha; /* shares */
	enum bb_verdict fail_on; /* exit code 3 if any verdict is this; inconclusive: never */
	const char *sort;        /* NULL: as they come */
	struct bb_strings filters;
	bool force;
	bool exact; /* instructions only, without tolerance */
	bool time;  /* line by line */
	const char *baseline, *save_baseline;
};

/*
 * A threshold below the resolution of the machine, as its newest self-test found it, is refused:
 * -ERANGE with the explanation. 0 when there is no self-test of such a machine. `fp` NULL: this
 * machine.
 */
int bb_compare_check_resolution(const struct bb_compare_opts *o, const char *results,
				const struct bb_fingerprint *fp, struct bb_err *err);

/* Print the comparisons of a report that has just been measured. Returns the exit code. */
int bb_compare_show_measured(const struct bb_compare_opts *o, const struct bb_report *report,
			     const char *base, const char *head);

/* The same for instruction counts: exit code 3 also for one instruction more, unless another
 * verdict was asked for. */
int bb_compare_show_exact(const struct bb_compare_opts *o, const struct bb_report *a,
			  const struct bb_report *b, const char *base, const char *head);

/* The lines that the difference is in, of a report that has just been measured; of two stored runs
 * (base_run not NULL, base and head NULL) those of the programs of one name. Returns the exit code.
 */
int bb_compare_show_time(const struct bb_compare_opts *o, const struct bb_report *base_run,
			 const struct bb_report *report, const char *base, const char *head);

/* The same without printing. */
int bb_compare_exit_code(const struct bb_compare_opts *o, const struct bb_report *report);

/* Read two stored runs, compare and print; save a baseline if asked. Returns the exit code. */
int bb_compare_show_stored(const struct bb_compare_opts *o, const char *results,
			   const char *const *runs, size_t n_runs);

#endif
