/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SESSION_H
#define BB_RUN_SESSION_H

#include "base/err.h"
#include "base/rng.h"
#include "base/std.h"
#include "bpf/prog_stats.h"
#include "drivers/driver.h"
#include "plan/plan.h"
#include "plan/scenario.h"
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
	/* the run that this is a part of, in another process; NULL: none (run/runner.c) */
	const struct bb_run *before;
};

/*
 * The path of the object that a variant's program is in: as given when it has a slash, else in
 * `object_dir`, else beside the scenario file. free() it; NULL when out of memory.
 */
char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v,
		     const char *object_dir);

/* A plan made ready: every variant's program found and loaded once, every drive opened. */
struct bb_open_drive {
	const struct bb_driver *driver; /* NULL: not in the plan, or not possible here */
	void *state;
};

struct bb_session {
	const struct bb_plan *plan;
	const struct bb_run_opts *opts;
	struct bb_report *report; /* that it is for */
	struct bb_rng rng;
	struct bb_stats_enable stats; /* held while stats_on */
	bool stats_on;
	bool needs_bpf;             /* some drive of the plan */
	struct bb_test_prog *progs; /* by the scenario's variant index */
	bool *usable;               /* likewise: opened, loads here */
	bool *late;                 /* likewise: the time was over before it was loaded and tried */
	struct bb_open_drive *drives; /* by the scenario's drive index */
	size_t n_loaded, n_tried;     /* programs; programs with a drive */
	/* the code of the first failure that became a skip (skip_failing); 0: none */
	int failed;
	/* the time for loading and probing was over before all was done: the rest is left out */
	bool out_of_time;
	/* by drive index times the number of variants plus variant index: it cannot drive that */
	bool *refused;
};

/*
 * Of a budget (base/deadline.h), half is for this: programs that are not loaded or not tried by
 * then are left out, and one skip says so. Where the first one needs longer, it gets the rest of
 * the budget; -ETIME when nothing but floors is left.
 *
 * A drive or program that this machine cannot run (-ENOTSUP) becomes a skip in the report and is
 * left closed; any other failure is an error, before anything is measured, unless it is to be
 * skipped. -ENOTSUP, or the first failure, when nothing but floors is left. The static metrics of
 * each program are in the report then.
 */
int bb_session__open(const struct bb_plan *plan, const struct bb_run_opts *opts,
		     struct bb_report *report, struct bb_session *ret_session, struct bb_err *err);
void bb_session__close(struct bb_session *s);

/* index into programs[] */
size_t bb_session__variant(const struct bb_session *s, const struct bb_plan_case *c);
/* index into drives[] */
size_t bb_session__drive(const struct bb_session *s, const struct bb_plan_case *c);

/* The first case of a drive and variant, by their indices; NULL: the plan has none. */
const struct bb_plan_case *bb_session__find_case(const struct bb_session *s, size_t drive,
						 size_t variant);

/* bpf_stats on, or off, as the drive wants it. 0, or -errno with a message. */
int bb_session__stats_for(struct bb_session *s, size_t drive, struct bb_err *err);

/* Can the case be measured here? And is that by time, not by counts (run/count.h)? */
bool bb_session__can(const struct bb_session *s, const struct bb_plan_case *c);
bool bb_session__can_time(const struct bb_session *s, const struct bb_plan_case *c);

/*
 * Load the programs of the scenario and fire them until each drive has found what makes it run;
 * nothing is measured. ret_triggers[scenario->n_variants]: the names of triggers, which outlive
 * all; NULL: the variant is driven in another way, by a call of ours in the place of its event, or
 * by nothing, and the skips in the report say why.
 */
int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err);

#endif
