/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "plan/field.h"
#include "run/ab.h"
#include "run/gate_jobs.h"

/* More than its budget for a program, where a starved machine could find no slowdown at all. */
#define PATIENCE_S 60.0

/* Of the lines of a program that regressed: as `compare --time`. */
#define LINES_LOADS 16u
#define LINES_SAMPLES 6400u

static bool is_todo(const struct bb_gate_run *run, const struct bb_gate_job *job,
		    const struct bb_report *first)
{
	const struct bb_gate_program *p = &run->gate.programs[job->program];

	if (p->state != BB_GATE_COMPARED || !first)
		return p->state == BB_GATE_COMPARED;
	for (size_t i = 0; i < first->n_comparisons; i++)
		if (first->comparisons[i].verdict == BB_VERDICT_REGRESSED &&
		    bb_gate__owns(p, first->comparisons[i].name))
			return true;
	for (size_t i = 0; run->gate.exact && i < run->gate.counted.n_rows; i++)
		if (run->gate.counted.rows[i].verdict == BB_VERDICT_REGRESSED &&
		    bb_gate__owns(p, run->gate.counted.rows[i].name))
			return true;
	return false;
}

size_t bb_gate_run__todo(const struct bb_gate_run *run, const struct bb_report *first)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_jobs; i++)
		n += is_todo(run, &run->jobs[i], first);
	return n;
}

/* All comparisons that are to be made: they share one alpha. */
static size_t count_comparisons(const struct bb_gate_run *run, const struct bb_report *first)
{
	size_t n = 0;

	for (size_t i = 0; i < run->n_jobs; i++) {
		const struct bb_plan *plan = &run->jobs[i].plan;

		for (size_t c = 0; is_todo(run, &run->jobs[i], first) && c < plan->n_cases; c++)
			n += !strcmp(plan->cases[c].variant->name, bb_revision_names[BB_BASE]) &&
			     !plan->cases[c].drive->kind->counts;
	}
	return n;
}

/* Why a revision's program could not be had; NULL: it could. */
static const char *why_not(const struct bb_report *r, const char *label, enum bb_revision revision)
{
	char what[3 * BB_NAME_MAX_BYTES];

	snprintf(what, sizeof(what), "%s/%s", label, bb_revision_names[revision]);
	for (size_t i = 0; i < r->n_skips; i++)
		if (!strcmp(r->skips[i].what, what))
			return r->skips[i].why;
	return NULL;
}

/* A program that could not be compared. That base does not load is no fault of head's, the other
 * way round it is. */
static int give_up(struct bb_gate_program *p, const struct bb_report *report, struct bb_err *err)
{
	const char *base = why_not(report, p->label, BB_BASE),
		   *head = why_not(report, p->label, BB_HEAD);

	if (head && !base)
		return bb_gate_program__skip(p, BB_GATE_FAILED, head, err);
	return bb_gate_program__skip(p, BB_GATE_SKIPPED, base ? base : err->msg, err);
}

/* Where only one of the two could be counted there is nothing: the other one is a skip in the
 * report. */
static int compare_counts(struct bb_gate *g, const struct bb_report *report, bool again,
			  struct bb_err *err)
{
	int rc;

	if (!report->n_counted)
		return 0;
	rc = bb_exact_diff__make(report, report, bb_revision_names[BB_BASE],
				 bb_revision_names[BB_HEAD],
				 again ? &g->counted_again : &g->counted, err);
	return rc == -ENODATA ? 0 : rc;
}

/* Did the second measurement confirm an alert of the program? */
static bool is_confirmed(const struct bb_gate_program *p, const struct bb_report *again)
{
	for (size_t i = 0; i < again->n_comparisons; i++)
		if (again->comparisons[i].verdict == BB_VERDICT_REGRESSED &&
		    bb_gate__owns(p, again->comparisons[i].name))
			return true;
	return false;
}

static int take_timed(struct bb_report *from, struct bb_report *to)
{
	for (size_t i = 0; i < from->n_timed; i++) {
		struct bb_timed *t = bb_report__add_timed(to);

		if (!t)
			return -ENOMEM;
		*t = from->timed[i];
		from->timed[i] = (struct bb_timed){0};
	}
	return 0;
}

/* On which lines is the difference? What cannot be had is left out: it is no reason to fail. */
static int time_lines(struct bb_gate_run *run, struct bb_gate_job *job,
		      const struct bb_run_opts *opts, struct bb_report *report)
{
	const char *drive = "lines";
	const struct bb_plan_opts plan_opts = {.variants = bb_revision_names,
					       .n_variants = BB_N_REVISIONS,
					       .drives = &drive,
					       .n_drives = 1,
					       .loads = LINES_LOADS,
					       .samples = LINES_SAMPLES};
	struct bb_report *timed = bb_report__new(); /* its programs are in `report` already */
	struct bb_run_opts lines = *opts;
	struct bb_err unsaid = {0};
	int rc;

	if (!timed)
		return -ENOMEM;
	bb_plan__done(&job->plan); /* of drives that move now */
	rc = bb_scenario__add_lines(job->scenario, &unsaid);
	if (!rc)
		rc = bb_plan__make(job->scenario, &plan_opts, &job->plan, &unsaid);
	lines.share_maps = lines.skip_failing = true;
	lines.budget_s = run->opts->each_s;
	if (!rc)
		rc = bb_run_plan(&job->plan, &lines, timed, &unsaid);
	if (!rc)
		rc = take_timed(timed, report);
	bb_report__free(timed);
	return rc == -EINTR || rc == -ENOMEM ? rc : 0;
}

static int time_all_lines(struct bb_gate_run *run, const struct bb_run_opts *opts,
			  struct bb_report *report, struct bb_err *err)
{
	const struct bb_time_diff_opts diff = {.base = bb_revision_names[BB_BASE],
					       .head = bb_revision_names[BB_HEAD],
					       .threshold = run->opts->threshold,
					       .alpha = run->opts->alpha};
	int rc = 0;

	for (size_t i = 0; !rc && i < run->n_jobs; i++)
		if (is_confirmed(&run->gate.programs[run->jobs[i].program], report))
			rc = time_lines(run, &run->jobs[i], opts, report);
	if (rc)
		return rc == -ENOMEM ? bb_fail_nomem(err) : rc;
	rc = report->n_timed ? bb_time_diff__make(report, &diff, &run->gate.timed, err) : 0;
	return rc == -ENODATA ? 0 : rc;
}

/* What a scenario of the tree runs, it runs as the user who built the tree. */
static struct bb_run_opts as_builder(const struct bb_repo *repo, const struct bb_run_opts *opts)
{
	struct bb_run_opts o = *opts;

	o.driver.uid = repo->uid;
	o.driver.gid = repo->gid;
	return o;
}

int bb_gate_run__measure(struct bb_gate_run *run, const struct bb_run_opts *asked,
			 const struct bb_report *first, struct bb_report *report,
			 struct bb_err *err)
{
	const struct bb_run_opts builders = as_builder(&run->repo, asked), *opts = &builders;
	struct bb_ab_opts ab = {
		.run = *opts,
		.base = bb_revision_names[BB_BASE],
		.head = bb_revision_names[BB_HEAD],
		.threshold = run->opts->threshold,
		.alpha = run->opts->alpha,
		.n_family = count_comparisons(run, first),
		.count = true,
		.executed = true,
	};
	size_t left = bb_gate_run__todo(run, first);
	struct bb_deadline budget;
	int rc = 0;

	ab.run.skip_failing = true;
	bb_deadline__begin(&budget, opts->budget_s);
	for (size_t i = 0; !rc && i < run->n_jobs; i++) {
		struct bb_gate_job *job = &run->jobs[i];

		if (!is_todo(run, job, first))
			continue;
		ab.run.budget_s = run->opts->each_s;
		ab.patience_s = PATIENCE_S;
		if (opts->budget_s > 0) {
			double share_s = fmax(bb_deadline_left_s(), 1e-3) / (double)left;

			ab.run.budget_s = fmin(ab.run.budget_s, share_s);
			ab.patience_s = fmin(ab.patience_s, share_s - ab.run.budget_s);
		}
		ab.run.seed = opts->seed + i;
		rc = bb_deadline_has_passed
			     ? bb_fail(err, -ETIME, "the budget was over before its turn")
			     : bb_run_ab(&job->plan, &ab, report, err);
		if (rc == -ETIME)
			rc = bb_gate_program__skip(&run->gate.programs[job->program],
						   BB_GATE_SKIPPED, err->msg, err);
		else if (rc && rc != -EINTR && rc != -ENOMEM && !report->incomplete)
			rc = give_up(&run->gate.programs[job->program], report, err);
		left--;
	}
	if (!rc && first)
		rc = time_all_lines(run, opts, report, err);
	bb_deadline__end(&budget);
	return rc ? rc : compare_counts(&run->gate, report, first != NULL, err);
}
