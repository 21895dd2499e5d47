/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/driver.h"
#include "drivers/setup.h"
#include "plan/plan.h"
#include "report/report.h"

/* Receives the progress of a run: `done` of `total` seconds of expected work. */
struct bb_progress {
	void (*update)(void *arg, double done, double total, const char *what);
	void *arg;
};

struct bb_run;
struct bb_time_diff_opts;

struct bb_run_opts {
	struct bb_driver_opts driver;
	uint64_t seed;
	/* true to skip a program that cannot be loaded or run; false to fail */
	bool skip_failing;
	/* limit of the whole run, loading included, s (0 means no limit) */
	double budget_s;
	/* name of the option that sets budget_s (NULL means --budget) */
	const char *budget_option;
	const struct bb_progress *progress; /* may be NULL */
	/* How source lines of programs are compared, or NULL. A run that compares lines has four
	 * times the plan's rounds if the budget lasts, and more if a line then has no verdict. */
	const struct bb_time_diff_opts *lines;
	/* true if variants are compared (variants with alike maps then share them) */
	bool share_maps;
	/* run of the first process if this one measures a part of it (run/runner.c), else NULL */
	const struct bb_run *before;
	/* only[variant] is true if the session may open the variant; NULL if it may open all */
	const bool *only;
	/* put_off[variant] becomes true if memory is too short for the program's maps. Another
	 * session must then open it. If NULL, this is a failure. */
	bool *put_off;
};

static inline const char *bb_run_opts__budget_option(const struct bb_run_opts *o)
{
	return o->budget_option ? o->budget_option : "--budget";
}

/* Returns the path of a variant's object, which the caller frees. A name without a slash is first
 * looked for in `object_dir`. Relative names are relative to the scenario's folder. */
char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v,
		     const char *object_dir);

struct bb_open_drive {
	/* NULL if the drive is not in the plan or this machine cannot run it */
	const struct bb_driver *driver;
	struct bb_drive_state *state;
};

/* A plan that is ready to be measured: every program was loaded once, and every drive is open. */
struct bb_session {
	const struct bb_plan *plan;
	const struct bb_run_opts *opts;
	struct bb_report *report;
	struct bb_rng rng;
	struct bb_stats_enable stats;
	bool stats_on;
	struct bb_setup setup;
	bool needs_bpf;
	double memory;              /* memory available at the beginning, bytes */
	struct bb_test_prog *progs; /* progs[i] is of variant i of the scenario */
	/* usable[variant] is true if the program was loaded */
	bool *usable;
	/* late[variant] is true if the time for loading and trying was over before its turn */
	bool *late;
	struct bb_open_drive *drives;
	/* variants that were opened, and pairs of drive and variant that were tried, in time */
	size_t n_loaded, n_tried;
	/* first failure that became a skip (skip_failing), as -errno, or 0 */
	int failed;
	/* true if the time for loading and trying was too short for all programs */
	bool out_of_time;
	/* refused[drive * n_variants + variant] is true if the drive cannot run the variant */
	bool *refused;
	/* mix_paths[plan->n_cases]: the path of each input of a case; NULL if not known yet */
	struct bb_mix_paths *mix_paths;
};

/*
 * Opens a session, which may take half of the budget (base/deadline.h). One skip names the programs
 * that are not loaded and tried by then. If the first program takes longer, it gets the rest of the
 * budget. If no program but floors (empty programs) is ready even then, returns -ETIME. Drives and
 * programs that this machine cannot run become skips. So do other failures if skip_failing is set.
 * If only floors are left, returns -ENOTSUP or the first failure, which is also in
 * ret_session->failed. After an error, all other members of ret_session are 0.
 */
int bb_session__open(const struct bb_plan *plan, const struct bb_run_opts *opts,
		     struct bb_report *report, struct bb_session *ret_session, struct bb_err *err);
void bb_session__close(struct bb_session *s); /* the session may be zeroed */

/* Return the index of the case's variant in progs[], and of its drive in drives[]. */
size_t bb_session__variant(const struct bb_session *s, const struct bb_plan_case *c);
size_t bb_session__drive(const struct bb_session *s, const struct bb_plan_case *c);

/* Returns the plan's first case with this drive and variant, or NULL. */
const struct bb_plan_case *bb_session__find_case(const struct bb_session *s, size_t drive,
						 size_t variant);

/* Turns bpf_stats on or off as the drive needs. Call it before the drive measures. */
int bb_session__stats_for(struct bb_session *s, size_t drive, struct bb_err *err);

/* Returns true if the program is loaded, the drive is open, and the drive can run it. */
bool bb_session__can(const struct bb_session *s, const struct bb_plan_case *c);
/* Returns true if bb_session__can() does and the drive measures time, not only counts. */
bool bb_session__can_time(const struct bb_session *s, const struct bb_plan_case *c);

/* Loads the programs, and finds a trigger that makes each of them run. Measures nothing.
 * ret_triggers[i] is the trigger's name for variant i, a constant. It is NULL if the variant runs
 * without such a trigger or nothing makes it run. Skips in the report tell why. */
int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err);
