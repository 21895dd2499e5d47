/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_RUNNER_H
#define BB_RUN_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "drivers/driver.h"
#include "plan/plan.h"
#include "report/report.h"

/* Receives the progress of a run; `done` and `total` in seconds of expected work. NULL: none. */
struct bb_progress {
	void (*update)(void *arg, double done, double total, const char *what);
	void *arg;
};

struct bb_run;

struct bb_run_opts {
	struct bb_driver_opts driver;
	uint64_t seed;
	/* a program that cannot be loaded or run is a skip, not an error */
	bool skip_failing;
	/* all of it, loading included, ends one run of a program after this; 0: no limit */
	double budget_s;
	const struct bb_progress *progress;
	/* more rounds than the plan's, four times as many at the most, while the budget lasts */
	bool fill_budget;
	/* the variants use one set of maps, where those are alike: they are compared */
	bool share_maps;
	/* the run that this is a part of, in another process; NULL: none (run/processes.h) */
	const struct bb_run *before;
};

/*
 * Measure the plan and append its cases to the report. A run is rounds: in each, every variant is
 * loaded anew in random order, and all cells are measured in blocks in random order, so that a load
 * is one replication and the floor shares its noise with the rest. Where only lines are timed,
 * several processes do so (run/processes.h).
 *
 * Under a budget no round begins that would end after it, and a turn of a slow program ends with
 * fewer samples; skips name the cases that were left out.
 *
 * 0; -ENOTSUP when nothing of the plan can be done on this machine (the skips say why); -ETIME when
 * the budget was used up before anything was measured; -EINTR after a signal and other errors
 * midway: the report then holds the measurements so far and `incomplete` says why.
 */
int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err);

/* Does measuring it need a CPU to itself? Fake and live programs do not. */
bool bb_plan_takes_cpu(const struct bb_plan *plan);

/*
 * The path of the object that a variant's program is in: as given when it has a slash, else in
 * `object_dir`, else beside the scenario file. free() it; NULL when out of memory.
 */
char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v,
		     const char *object_dir);

#endif
