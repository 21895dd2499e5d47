/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "run/count.h"
#include "run/executed.h"
#include "run/lines.h"
#include "run/processes.h"
#include "run/record.h"
#include "run/round.h"
#include "stats/quantile.h"

#define BATCH_MIN 100u /* room for samples, in any case */

/* Of a run: for loading programs again until they are where they should be, and for waiting until
 * the CPU is calm. Of a budget, a share. */
#define PLACING_MOST_S 2.0 /* a program */
#define PLACING_SHARE 0.15 /* all programs */
#define WAITING_MOST_S 3.0
#define WAITING_SHARE 0.15

static int add_cases(struct bb_run *r, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_test_prog *prog;
		const struct bb_open_drive *d;
		struct bb_case *k;

		r->case_of[i] = SIZE_MAX;
		if (!bb_session__can_time(&r->session, &plan->cases[i]))
			continue;
		if (bb_record__case(r->report, plan, &plan->cases[i], NULL, &r->case_of[i], err))
			return -ENOMEM;
		k = &r->report->cases[r->case_of[i]];
		d = &r->session.drives[bb_session__drive(&r->session, &plan->cases[i])];
		prog = &r->session.progs[bb_session__variant(&r->session, &plan->cases[i])];
		/* of a drive that times a command: which */
		if (d->driver->command && !(k->command = strdup(d->driver->command(d->state))))
			return bb_fail_nomem(err);
		if (bb_record__fired_by(k, d->driver, prog))
			return bb_fail_nomem(err);
		r->total += bb_round__expected_s(&plan->cases[i]) * plan->cases[i].loads;
	}
	for (size_t i = 0; i < plan->n_cases; i++) {
		size_t floor = plan->cases[i].floor;

		if (r->case_of[i] != SIZE_MAX && floor != BB_NO_CASE &&
		    r->case_of[floor] != SIZE_MAX)
			r->report->cases[r->case_of[i]].floor = r->case_of[floor];
	}
	return 0;
}

/* Which cases share: found once, as there may be thousands of them. */
static int link_cases(struct bb_run *r, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	size_t n_variants = plan->scenario->n_variants, n = n_variants * plan->scenario->n_drives;
	size_t *last = calloc(n ? n : 1, sizeof(*last)); /* by drive and variant, + 1 */

	if (!last)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		size_t *l = &last[bb_session__drive(&r->session, c) * n_variants +
				  bb_session__variant(&r->session, c)];

		r->first[i] = *l ? r->first[*l - 1] : i;
		r->next[i] = BB_NO_CASE;
		if (*l)
			r->next[*l - 1] = i;
		*l = i + 1;
	}
	free(last);
	return 0;
}

static bool is_variant_placed(const struct bb_run *r, size_t variant)
{
	const struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++)
		if (r->case_of[i] != SIZE_MAX && bb_round__is_placed(&ss->plan->cases[i]) &&
		    bb_session__variant(ss, &ss->plan->cases[i]) == variant)
			return true;
	return false;
}

/* As the process before knows them. */
static void take_places(struct bb_run *r)
{
	const struct bb_run *before = r->session.opts->before;

	for (size_t v = 0; v < r->session.plan->scenario->n_variants; v++) {
		memcpy(r->session.progs[v].seen_mod64, before->session.progs[v].seen_mod64,
		       sizeof(r->session.progs[v].seen_mod64));
		r->places[v] = before->places[v];
		r->places[v].spent_s = 0;
	}
}

/* Of the time for waiting this process has what its loads are of all. */
static double waiting_most_s(const struct bb_run *r)
{
	const struct bb_run_opts *opts = r->session.opts;
	uint32_t all = (opts->before ? opts->before : r)->session.plan->loads;
	double share = (double)bb_processes_first_loads(r->session.plan, opts) / all,
	       left_s = bb_deadline_left_s() * (opts->before ? 1 : share);

	return fmin(WAITING_MOST_S * share, WAITING_SHARE * left_s);
}

static int find_places(struct bb_run *r, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	size_t n = ss->plan->scenario->n_variants;
	double left_s = bb_deadline_left_s();
	int rc = 0;

	if (ss->opts->before)
		take_places(r);
	/* that takes loads more, and there was no time for one of each program */
	for (size_t v = 0; !rc && v < n && !ss->opts->before && !ss->out_of_time; v++)
		if (ss->usable[v] && is_variant_placed(r, v))
			rc = bb_placement__find(&r->places[v], &ss->progs[v], &ss->rng,
						fmin(PLACING_MOST_S,
						     PLACING_SHARE * left_s / (double)n),
						err);
	if (ss->opts->before)
		r->calm = (struct bb_calm){.best_ns = ss->opts->before->calm.best_ns,
					   .most_s = waiting_most_s(r)};
	else
		bb_calm__begin(&r->calm, waiting_most_s(r));
	return rc;
}

#define EMPTIED_ALIKE 1.5 /* times the median time that a line took to read, or a part of it */

/* A load whose caches were emptied further than those of the others, or less, is another state. */
static int judge_emptied(struct bb_case *c, struct bb_err *err)
{
	double *line_ns = calloc(c->n_series + 1, sizeof(*line_ns)), usual_ns;
	size_t n = 0;
	int rc = line_ns ? 0 : bb_fail_nomem(err);

	for (size_t i = 0; !rc && i < c->n_series; i++)
		if (!isnan(c->series[i].line_ns))
			line_ns[n++] = c->series[i].line_ns;
	usual_ns = n ? bb_median(line_ns, n) : NAN;
	for (size_t i = 0; !rc && i < c->n_series; i++) {
		struct bb_series *s = &c->series[i];

		if (s->line_ns > usual_ns * EMPTIED_ALIKE || s->line_ns < usual_ns / EMPTIED_ALIKE)
			rc = bb_record__void(s,
					     "after emptying a line of memory took %.1f ns to "
					     "read, "
					     "%.1f in the middle of all loads",
					     s->line_ns, usual_ns)
				     ? bb_fail_nomem(err)
				     : 0;
	}
	free(line_ns);
	return rc;
}

/* What is known of the places at the end goes to all series. */
static void note_shares(struct bb_run *r)
{
	struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];
		struct bb_case *k;

		if (r->case_of[i] == SIZE_MAX || !bb_round__is_placed(c))
			continue;
		k = &r->report->cases[r->case_of[i]];
		for (size_t s = 0; s < k->n_series; s++)
			k->series[s].jit_share =
				bb_placement_share(&ss->progs[bb_session__variant(ss, c)],
						   k->series[s].jit_mod64);
	}
}

/* For a plan with drives that fire programs. Without such test runs in the kernel, a skip says so.
 */
static int open_references(struct bb_run *r, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	bool needed = false;
	int rc;

	for (size_t i = 0; i < plan->n_cases; i++)
		needed |= r->case_of[i] != SIZE_MAX && bb_round__is_placed(&plan->cases[i]);
	if (!needed)
		return 0;
	rc = bb_unless_broken_off(
		bb_references__open(r->session.opts->driver.object_dir, &r->references, err));
	if (rc != -ENOTSUP)
		return rc;
	return bb_report__add_skip(r->report, "references", err->msg) ? bb_fail_nomem(err) : 0;
}

/* From the least to the largest of 6 is an interval of 97 %; the last round may not fit. */
#define FEWEST_ROUNDS 7u
#define FILL_MOST 4u    /* times the plan's rounds */
#define SLOW_FIRINGS 5u /* of a slow program in a round: one warms it up */

/*
 * Rounds, the first one included, whose loads hold a few samples of slow programs each. The first
 * round, which took `first_s`, held one or two behind a firing to warm up. Drives that go by time
 * have slices of their own: beside them all rounds stay.
 */
static uint32_t count_rounds(const struct bb_run *r, double first_s)
{
	const struct bb_plan *plan = r->session.plan;
	double round_s = first_s, rounds;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		const struct bb_series *s;

		if (c->seconds > 0 || c->loads != plan->loads)
			return plan->loads;
		if (r->case_of[i] == SIZE_MAX || !r->is_slow[i])
			continue;
		s = r->report->cases[r->case_of[i]].series;
		round_s += s->elapsed_s *
			   (SLOW_FIRINGS / fmax((double)(s->fired + s->warmup), 1) - 1);
	}
	rounds = fmax(1 + bb_deadline_left_s() / round_s, FEWEST_ROUNDS);
	return (uint32_t)fmin(rounds, plan->loads);
}

/* *ret_others: how many rounds were measured, if the others are for other processes; else 0. */
static int run_rounds(struct bb_run *r, double open_s, uint32_t *ret_others, struct bb_err *err)
{
	uint32_t load = 0, loads = r->session.plan->loads,
		 first = bb_processes_first_loads(r->session.plan, r->session.opts);
	int rc = find_places(r, err);
	uint64_t began_ns = bb_now_ns();

	for (; !rc && load < r->rounds; load++) {
		double took_s = bb_seconds_since(began_ns);

		/* A round may take as long as the average one did. */
		if (load && took_s / load > bb_deadline_left_s())
			break;
		if (load == first && bb_processes_are_worth(r->session.plan, open_s, took_s)) {
			*ret_others = load;
			break;
		}
		if (load == first)
			r->calm.most_s *= (double)loads / first;
		rc = bb_round__measure(r, load, err);
		if (!load && r->is_cut && first == loads) {
			r->rounds = count_rounds(r, bb_seconds_since(began_ns));
			r->total *= (double)r->rounds / loads;
		}
		if (r->session.opts->fill_budget && load + 1 == r->rounds &&
		    r->rounds < FILL_MOST * loads && isfinite(bb_deadline_left_s()))
			r->rounds++;
	}
	note_shares(r);
	for (size_t i = 0; !rc && i < r->report->n_cases; i++)
		rc = judge_emptied(&r->report->cases[i], err);
	if (rc == -ETIME) /* all that it did counts */
		rc = 0;
	if (!rc && load < loads && !*ret_others)
		rc = bb_left_out__loads(r, load, loads, err);
	if (!rc && (r->is_cut || bb_deadline_has_passed))
		rc = bb_left_out__samples(r, load, err);
	return rc;
}

/* A live program whose owner has gone since it was last taken up, at the beginning of its last
 * slice. */
static int note_gone(struct bb_run *r, struct bb_err *err)
{
	const struct bb_scenario *sc = r->session.plan->scenario;
	char what[256];

	for (size_t v = 0; v < sc->n_variants; v++) {
		struct bb_err why = {0};

		if (!r->session.usable[v] || !bb_variant_is_live(&sc->variants[v]) ||
		    bb_test_prog__load(&r->session.progs[v], &r->session.rng, BB_ANYWHERE, 1,
				       &why) != -ENOENT)
			continue;
		snprintf(what, sizeof(what), "%s/%s: the end of its last slice", sc->name,
			 sc->variants[v].name);
		if (bb_report__add_skip(r->report, what, why.msg))
			return bb_fail_nomem(err);
	}
	return 0;
}

/*
 * The largest batch there can be: a turn, or a slice of time of a drive that goes by time. Where
 * nobody knows the rate the room ends the slice.
 */
static size_t batch_size(const struct bb_plan *plan)
{
	size_t most = BATCH_MIN;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i];
		size_t room = c->drive->kind->batch_samples;
		/* twice its frequency, the packets of a request, or who knows */
		double hz = c->param ? c->drive->kind->samples_per_event * (double)c->param_value
				     : 1e5;
		size_t n = room ? room : (size_t)(c->seconds / c->loads * hz) + 64;

		if (c->seconds > 0 && n > most)
			most = n;
	}
	return most;
}

bool bb_plan_takes_cpu(const struct bb_plan *plan)
{
	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_drive_kind *kind = plan->cases[i].drive->kind;

		if (!kind->synthetic && strcmp(kind->with, "live"))
			return true;
	}
	return false;
}

static bool is_floor(const struct bb_plan *plan, size_t variant)
{
	for (size_t i = 0; i < plan->n_cases; i++)
		if (plan->cases[i].variant == &plan->scenario->variants[variant])
			return bb_plan_case__is_floor(&plan->cases[i]);
	return true;
}

/* Where a map's pages lie moves a comparison: all but floors use the maps of the first of them. */
static int share_maps(struct bb_session *ss, struct bb_err *err)
{
	struct bb_test_prog *lender = NULL;
	int rc = 0;

	for (size_t v = 0; !rc && v < ss->plan->scenario->n_variants; v++) {
		struct bb_test_prog *s = &ss->progs[v];

		if (!ss->usable[v] || !s->target || is_floor(ss->plan, v) ||
		    bb_variant_is_live(s->spec))
			continue;
		if (!lender) {
			lender = s;
			continue;
		}
		bb_target__borrow_maps(s->target, lender->target);
		rc = bb_test_prog__load(s, &ss->rng, BB_ANYWHERE, 1, err);
	}
	return rc;
}

int bb_run_plan(const struct bb_plan *plan, const struct bb_run_opts *opts,
		struct bb_report *report, struct bb_err *err)
{
	struct bb_run r = {.report = report, .began_ns = bb_now_ns()};
	struct bb_deadline budget;
	struct bb_err local = {0};
	size_t n_before = report->n_cases;
	uint32_t others = 0;
	double open_s;
	int rc;

	err = err ? err : &local;
	bb_deadline__begin(&budget, opts->budget_s);
	rc = bb_session__open(plan, opts, report, &r.session, err);
	open_s = bb_seconds_since(r.began_ns);
	if (rc) {
		bb_deadline__end(&budget);
		return rc == -EINTR ? bb_record__incomplete(report, rc, err) : rc;
	}
	r.ns_size = batch_size(plan);
	r.rounds = plan->loads;
	r.is_slow = calloc(plan->n_cases, sizeof(*r.is_slow));
	r.case_of = calloc(plan->n_cases, sizeof(*r.case_of));
	r.first = calloc(plan->n_cases, sizeof(*r.first));
	r.next = calloc(plan->n_cases, sizeof(*r.next));
	r.slots = calloc(plan->n_cases, sizeof(*r.slots));
	r.ns = calloc(r.ns_size, sizeof(*r.ns));
	r.places = calloc(plan->scenario->n_variants + 1, sizeof(*r.places));
	rc = r.case_of && r.first && r.next && r.slots && r.ns && r.places && r.is_slow
		     ? link_cases(&r, err)
		     : bb_fail_nomem(err);
	if (!rc && opts->share_maps)
		rc = share_maps(&r.session, err);
	if (!rc)
		rc = add_cases(&r, err);
	if (!rc)
		rc = bb_count_all(&r.session, r.total > 0 ? 0.5 : 1, report, err);
	if (!rc)
		rc = bb_note_executed(&r.session, r.case_of, report);
	if (!rc && r.total > 0)
		rc = open_references(&r, err);
	if (!rc && r.total > 0)
		rc = run_rounds(&r, open_s, &others, err);
	if (!rc)
		rc = note_gone(&r, err);
	/* what a signal left of the times is shown */
	if (!rc || rc == -EINTR)
		rc = bb_note_lines(&r.session, report, err) ? -ENOMEM : rc;
	if (!rc && others)
		rc = bb_processes__measure(&r, others, bb_run_plan, err);
	if (!rc && opts->skip_failing && bb_report__skip_without_sample(report, n_before))
		rc = bb_fail_nomem(err);
	bb_deadline__end(&budget);
	if (rc && rc != -ETIME) /* the skips say that */
		rc = bb_record__incomplete(report, rc, err);
	bb_references__free(r.references);
	free(r.places);
	free(r.ns);
	free(r.slots);
	free(r.next);
	free(r.first);
	free(r.case_of);
	free(r.is_slow);
	bb_session__close(&r.session);
	return rc;
}
