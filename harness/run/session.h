/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "drivers/setup.h"
#include "plan/plan.h"
#include "report/report.h"

/* Receives the progress of a run: `done` of `total` seconds of expected work. If
 * bb_run_opts.progress is NULL, nobody receives it. */
struct bb_progress {
	void (*update)(void *arg, double done, double total, const char *what);
	void *arg;
};

struct bb_run;
struct bb_time_diff_opts;

struct bb_run_opts {
	struct bb_driver_opts driver;
	uint64_t seed;
	/* true: a program that cannot be loaded or run is skipped; false: it is an error */
	bool skip_failing;
	/* limit of the whole run, loading included, s; 0: no limit */
	double budget_s;
	/* name of the option by which the user sets budget_s; NULL: --budget */
	const char *budget_option;
	const struct bb_progress *progress;
	/* How lines are compared; NULL if they are not compared. A run that compares lines has four
	 * times the plan's rounds, as far as the budget lasts. If a line has no verdict after these
	 * rounds, more rounds are added. */
	const struct bb_time_diff_opts *lines;
	/* true if variants are compared; those whose maps are alike then share them */
	bool share_maps;
	/* run of the first process, of which this one measures a part (run/runner.c); NULL: none */
	const struct bb_run *before;
	/* only[variant] is true if the session may open the variant; NULL: it may open all */
	const bool *only;
	/* by variant: receives true if the memory does not hold the maps of its program beside
	 * those of the programs before it, so that another session must open it; NULL: a failure */
	bool *put_off;
};

/* Returns the name of the option that gives a run more time. */
static inline const char *bb_run_opts__budget_option(const struct bb_run_opts *o)
{
	return o->budget_option ? o->budget_option : "--budget";
}

/* Returns the path of the object of a variant's program; free() it. A name that begins with a slash
 * is the path. A name without a slash is first looked for in `object_dir`. All other names are
 * relative to the folder of the scenario. */
char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v,
		     const char *object_dir);

struct bb_open_drive {
	/* NULL: the drive is not in the plan, or this machine cannot run it */
	const struct bb_driver *driver;
	struct bb_drive_state *state;
};

/* A plan that is ready to be measured: every program was loaded once, every drive is open. */
struct bb_session {
	const struct bb_plan *plan;
	const struct bb_run_opts *opts;
	struct bb_report *report; /* receives the results */
	struct bb_rng rng;
	struct bb_stats_enable stats; /* keeps bpf_stats on while stats_on is true */
	bool stats_on;
	struct bb_setup setup;
	bool needs_bpf;             /* true: a drive of the plan needs BPF */
	double memory;              /* memory available when the session began, bytes */
	struct bb_test_prog *progs; /* progs[i] is the program of variant i of the scenario */
	/* usable[variant] is true if the program is open and could be loaded */
	bool *usable;
	/* by variant: true if the time for loading and trying was over before its turn */
	bool *late;
	struct bb_open_drive *drives; /* drives[i] is drive i of the scenario */
	/* n_loaded: number of variants that were opened in time. n_tried: number of pairs of a
	 * drive and a variant that were tried in time */
	size_t n_loaded, n_tried;
	/* first failure that became a skip (skip_failing), as -errno; 0: there was none */
	int failed;
	/* true: the time for loading and trying was too short for the remaining programs */
	bool out_of_time;
	/* [drive index * number of variants + variant index]: the drive cannot drive the variant */
	bool *refused;
	/* the paths of mixes, by case of the plan: mix_paths[plan->n_cases]; NULL: not known yet */
	struct bb_mix_paths *mix_paths;
};

/*
 * Opens a session. This may take half of the budget (base/deadline.h). Programs that are not loaded
 * and tried by then are left out, and one skip says so. If the first program needs longer, it gets
 * the rest of the budget. Returns -ETIME if no program except floors was loaded and tried even
 * then.
 *
 * A drive or program that this machine cannot run (-ENOTSUP) becomes a skip in the report. Any
 * other failure is an error before anything is measured, unless failing programs are skipped.
 * Returns -ENOTSUP or the first failure, which ret_session->failed then is, too, if the skips leave
 * only floors. Afterwards the report has the static metrics of each program. After an error, all
 * other members of ret_session are 0.
 */
int bb_session__open(const struct bb_plan *plan, const struct bb_run_opts *opts,
		     struct bb_report *report, struct bb_session *ret_session, struct bb_err *err);
void bb_session__close(struct bb_session *s); /* the session may be zeroed */

/* Returns the index of the case's variant in progs[]. */
size_t bb_session__variant(const struct bb_session *s, const struct bb_plan_case *c);
/* Returns the index of the case's drive in drives[]. */
size_t bb_session__drive(const struct bb_session *s, const struct bb_plan_case *c);

/* Returns the plan's first case of the drive and the variant with these indexes; NULL: none. */
const struct bb_plan_case *bb_session__find_case(const struct bb_session *s, size_t drive,
						 size_t variant);

/* Turns bpf_stats on or off as the drive needs, before a turn of the drive. Returns 0, or -errno
 * with a message. */
int bb_session__stats_for(struct bb_session *s, size_t drive, struct bb_err *err);

/* True if this session can measure the case: its program is loaded, its drive is open, and the
 * drive can drive the program. */
bool bb_session__can(const struct bb_session *s, const struct bb_plan_case *c);
/* True if this session can measure the case, and the case's drive measures time and does not only
 * count. */
bool bb_session__can_time(const struct bb_session *s, const struct bb_plan_case *c);

/*
 * Loads the programs of the scenario, and tries triggers until it has found one that makes each
 * program run. Measures nothing. ret_triggers[i] is the name of the trigger of variant i, a
 * constant. NULL: the variant runs without a trigger of the catalogue, or nothing makes it run;
 * skips in the report say why.
 */
int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err);
