/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/runner.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "drivers/cold.h"
#include "env/irq_works.h"
#include "env/steal.h"
#include "run/calm.h"
#include "run/count.h"
#include "run/executed.h"
#include "run/lines.h"
#include "run/placement.h"
#include "run/record.h"
#include "run/references.h"
#include "run/session.h"
#include "stats/quantile.h"

#define SETUP_S 5e-3   /* of a load, about: what the progress bar takes it for */
#define BATCH_MIN 100u /* room for samples, in any case */

/* A turn of fast programs is over long before, even where others keep it from its CPU. */
#define TURN_LEAST_S 0.1
#define MOST_NAMED 8u /* cases that the budget left out */

/* Of a run: for loading programs again until they are where they should be, and for waiting until
 * the CPU is calm. Of a budget, a share. */
#define PLACING_MOST_S 2.0 /* a program */
#define PLACING_SHARE 0.15 /* all programs */
#define WAITING_MOST_S 3.0
#define WAITING_SHARE 0.15

/* A plan on its way into a report. */
struct run {
	struct bb_session session;
	struct bb_report *report;
	size_t *case_of; /* by cell; SIZE_MAX: not measured here */
	/* by cell: the first of its drive and variant, which holds what they share */
	size_t *first;
	/* by cell: the next of its drive and variant; BB_NO_CASE behind the last */
	size_t *next;
	void **slots; /* by cell, of the round; cells of one drive and variant share theirs */
	uint64_t *ns; /* one batch of samples */
	size_t ns_size;
	double done, total; /* expected seconds */
	/* of the round: when it began, its share of the budget (INFINITY: none), its drives */
	uint64_t round_ns;
	double round_s;
	size_t drives_left;
	bool is_cut;                 /* a turn of it had to end with fewer samples */
	struct bb_placement *places; /* by variant */
	struct bb_calm calm;
	struct bb_references *references; /* NULL: none here */
};

static uint32_t per_load(const struct bb_plan_case *c)
{
	return (c->samples + c->loads - 1) / c->loads;
}

/* The turns that a cell has in a round. A kind without a length of turn does all in one. */
static uint32_t turns_of(const struct bb_plan_case *c)
{
	uint32_t turn = bb_drive_pace(c->drive)->turn;

	return c->seconds > 0 || !turn ? 1 : (per_load(c) + turn - 1) / turn;
}

/* What a cell of one round will take, s; only the proportions matter, to the progress bar. */
static double expected_s(const struct bb_plan_case *c)
{
	const struct bb_pace *pace = bb_drive_pace(c->drive);

	if (c->seconds > 0)
		return c->seconds / c->loads;
	return (per_load(c) + pace->warmup_first) * pace->sample_s + SETUP_S;
}

/* Of a drive that times a command: which. 0 or -ENOMEM. */
static int note_command(struct run *r, size_t cell)
{
	const struct bb_open_drive *d =
		&r->session.drives[bb_session__drive(&r->session, &r->session.plan->cases[cell])];
	struct bb_case *c = &r->report->cases[r->case_of[cell]];

	if (!d->driver->command)
		return 0;
	c->command = strdup(d->driver->command(d->state));
	return c->command ? 0 : -ENOMEM;
}

static int add_cases(struct run *r, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;

	for (size_t i = 0; i < plan->n_cases; i++) {
		r->case_of[i] = SIZE_MAX;
		if (!bb_session__can_time(&r->session, &plan->cases[i]))
			continue;
		if (bb_record__case(r->report, plan, &plan->cases[i], NULL, &r->case_of[i], err))
			return -ENOMEM;
		if (note_command(r, i) ||
		    bb_record__fired_by(
			    &r->report->cases[r->case_of[i]],
			    r->session.drives[bb_session__drive(&r->session, &plan->cases[i])]
				    .driver,
			    &r->session
				     .subjects[bb_session__variant(&r->session, &plan->cases[i])]))
			return bb_fail_nomem(err);
		r->total += expected_s(&plan->cases[i]) * plan->cases[i].loads;
	}
	for (size_t i = 0; i < plan->n_cases; i++) {
		size_t floor = plan->cases[i].floor;

		if (r->case_of[i] != SIZE_MAX && floor != BB_NO_CASE &&
		    r->case_of[floor] != SIZE_MAX)
			r->report->cases[r->case_of[i]].floor = r->case_of[floor];
	}
	return 0;
}

static struct bb_series *series_of(struct run *r, size_t cell)
{
	struct bb_case *c = &r->report->cases[r->case_of[cell]];

	return &c->series[c->n_series - 1];
}

/* What is left of the round's share of the budget; below 0: it has had more. */
static double round_left_s(const struct run *r)
{
	return r->round_s - bb_seconds_since(r->round_ns);
}

/* For a turn of a drive that fires; 0: no limit. */
static double turn_s(const struct run *r, size_t turns_left)
{
	double share_s = round_left_s(r) / (double)r->drives_left / (double)turns_left;

	return isinf(share_s) ? 0 : fmax(share_s, TURN_LEAST_S);
}

/* How often a run of the case interrupts its own CPU, by its first turn. */
static void note_wakeups(struct bb_case *c, const struct bb_batch *b, int cpu, uint64_t before)
{
	uint64_t after, runs = b->fired + b->warmup;

	if (runs && !bb_irq_works__read(cpu, &after, NULL))
		c->wakeups = (double)(after - before) / (double)runs;
}

/* One turn of one cell: BLOCK samples, or for in-situ the whole slice of the round. */
static int run_block(struct run *r, size_t cell, size_t turns_left, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	const struct bb_plan_case *c = &ss->plan->cases[cell];
	const struct bb_open_drive *d = &ss->drives[bb_session__drive(ss, c)];
	const struct bb_test_prog *subject = &ss->subjects[bb_session__variant(ss, c)];
	const struct bb_pace *pace = bb_drive_pace(c->drive);
	struct bb_series *s = series_of(r, cell);
	uint32_t left = per_load(c) - (uint32_t)s->fired;
	struct bb_batch b = {.ns = r->ns,
			     .drain_each_run = c->drive->step.consumer == BB_DRAIN_EACH_RUN};
	struct bb_case *k = &r->report->cases[r->case_of[cell]];
	bool counts_wakeups = c->drive->kind->one_by_one && isnan(k->wakeups);
	uint64_t irq_works = 0;
	int rc;

	if (!(c->seconds > 0)) {
		if (c->drive->kind->needs_bpf)
			bb_calm__wait(&r->calm);
		b.want = left < pace->turn ? left : pace->turn;
		b.warmup = s->fired ? pace->warmup_turn : pace->warmup_first;
		b.max_s = turn_s(r, turns_left);
	} else {
		b.want = r->ns_size;
		b.max_s = c->seconds / c->loads;
	}
	counts_wakeups &= counts_wakeups &&
			  !bb_irq_works__read(ss->opts->driver.cpu, &irq_works, NULL);
	rc = bb_record__measure(d->driver, d->state, r->slots[cell], subject, c->driver_param, &b,
				s, err);
	if (!rc && b.emptied && !k->emptied && !(k->emptied = strdup(b.emptied)))
		rc = bb_fail_nomem(err);
	if (!rc && counts_wakeups)
		note_wakeups(k, &b, ss->opts->driver.cpu, irq_works);
	r->is_cut |= b.max_s > 0 && !(c->seconds > 0) && b.fired < b.want;
	return rc;
}

/* A random order of turns: every cell of the drive as often as it has blocks. */
static int order_turns(struct run *r, size_t drive, uint32_t **ret_turns, size_t *ret_n,
		       struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	uint32_t *turns = NULL;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (size_t i = 0; i < ss->plan->n_cases; i++) {
			const struct bb_plan_case *c = &ss->plan->cases[i];
			uint32_t blocks = turns_of(c);

			if (bb_session__drive(ss, c) != drive || r->case_of[i] == SIZE_MAX)
				continue;
			for (uint32_t b = 0; b < blocks; b++, n++)
				if (turns)
					turns[n] = (uint32_t)i;
		}
		if (pass == 0) {
			turns = calloc(n ? n : 1, sizeof(*turns));
			if (!turns)
				return bb_fail_nomem(err);
		}
	}
	bb_rng_shuffle(&ss->rng, turns, n);
	*ret_turns = turns;
	*ret_n = n;
	return 0;
}

/* Which cells share: found once, as there may be thousands of them. */
static int link_cells(struct run *r, struct bb_err *err)
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

static void detach_drive(struct run *r, size_t drive)
{
	struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		if (bb_session__drive(ss, &ss->plan->cases[i]) != drive)
			continue;
		if (r->first[i] == i && r->slots[i])
			ss->drives[drive].driver->detach(ss->drives[drive].state, r->slots[i]);
		r->slots[i] = NULL;
	}
}

static int attach_drive(struct run *r, size_t drive, uint32_t load, struct bb_prog_stats *before,
			struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	int rc = 0;

	for (size_t i = 0; !rc && i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];
		struct bb_test_prog *subject = &ss->subjects[bb_session__variant(ss, c)];
		size_t first = r->first[i];

		if (bb_session__drive(ss, c) != drive || r->case_of[i] == SIZE_MAX)
			continue;
		rc = bb_must_end_why();
		if (rc)
			break;
		if (!bb_record__series(&r->report->cases[r->case_of[i]], load, subject->jit_mod64))
			rc = bb_fail_nomem(err);
		if (!rc && first != i) {
			r->slots[i] = r->slots[first];
			continue;
		}
		if (!rc)
			rc = bb_test_prog__reset_maps(subject, err);
		if (!rc)
			rc = bb_unless_broken_off(
				ss->drives[drive].driver->attach(ss->drives[drive].state, subject,
								 &r->slots[i], err));
		if (!rc && subject->target)
			rc = bb_stats_reader__agreed(bb_target__reader(subject->target), &before[i],
						     err);
	}
	return rc;
}

/* One variant's series of this round and drive against the kernel's own totals: void what does not
 * add up. */
static int judge_variant(struct run *r, size_t first, const struct bb_prog_stats *before)
{
	struct bb_session *ss = &r->session;
	const struct bb_plan_case *c = &ss->plan->cases[first];
	const struct bb_driver *driver = ss->drives[bb_session__drive(ss, c)].driver;
	const struct bb_test_prog *subject = &ss->subjects[bb_session__variant(ss, c)];
	int want_drops = ss->plan->scenario->expect_drops, rc = 0;
	uint64_t fired = 0, misses;
	char why[300];

	for (size_t i = first; i != BB_NO_CASE; i = r->next[i])
		fired += series_of(r, i)->fired + series_of(r, i)->warmup;
	bb_record__check(driver, subject, before, fired, &misses, why, sizeof(why));
	for (size_t i = first; !rc && i != BB_NO_CASE; i = r->next[i]) {
		struct bb_series *s = series_of(r, i);

		s->misses = misses;
		if (why[0])
			rc = bb_record__void(s, "%s", why);
		else if (driver->kind.fires && !driver->kind.stats_off &&
			 !bb_record__all_ran(subject, s->run_cnt, s->fired))
			rc = bb_record__void(s, "run_cnt is %llu, %llu events were fired",
					     (unsigned long long)s->run_cnt,
					     (unsigned long long)s->fired);
		else if (want_drops >= 0 && s->drops != (uint64_t)want_drops)
			rc = bb_record__void(s, "%llu drops, %d expected",
					     (unsigned long long)s->drops, want_drops);
	}
	return rc;
}

/* A case of the plan whose figure depends on where its program is, and needs a calm CPU. */
static bool is_placed(const struct bb_plan_case *c)
{
	const struct bb_drive_kind *kind = c->drive->kind;

	/* of an event, the place of the code is a small part */
	return kind->needs_bpf && !kind->counts && !kind->own_floor && !(c->seconds > 0);
}

/* The references, for all series of the drive's part of this round. */
static void measure_references(struct run *r, size_t drive)
{
	struct bb_session *ss = &r->session;
	double ns[BB_N_REFERENCES];

	bool is_measured = false;

	for (size_t i = 0; r->references && i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];

		if (bb_session__drive(ss, c) != drive || r->case_of[i] == SIZE_MAX || !is_placed(c))
			continue;
		if (!is_measured) {
			bb_calm__wait(&r->calm);
			bb_references__measure(r->references, ns);
		}
		is_measured = true;
		memcpy(series_of(r, i)->reference_ns, ns, sizeof(ns));
	}
}

static void report_progress(struct run *r, size_t cell)
{
	const struct bb_progress *p = r->session.opts->progress;

	if (p)
		p->update(p->arg, r->done, r->total, r->session.plan->cases[cell].name);
}

/* One drive's part of a round. */
static int run_drive(struct run *r, size_t drive, uint32_t load, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	struct bb_prog_stats *before = calloc(ss->plan->n_cases, sizeof(*before));
	uint32_t *turns = NULL;
	size_t n = 0;
	int rc = before ? order_turns(r, drive, &turns, &n, err) : bb_fail_nomem(err);

	if (!rc)
		rc = bb_session__stats_for(ss, drive, err);
	if (!rc)
		rc = attach_drive(r, drive, load, before, err);
	if (!rc)
		measure_references(r, drive);
	for (size_t i = 0; !rc && i < n && !bb_must_end(); i++) {
		const struct bb_plan_case *c = &ss->plan->cases[turns[i]];

		/* In a round that is late for slow programs, who has no sample yet goes first. */
		if (r->is_cut && round_left_s(r) < 0 && series_of(r, turns[i])->fired)
			continue;
		report_progress(r, turns[i]);
		rc = run_block(r, turns[i], n - i, err);
		r->done += expected_s(c) / (double)turns_of(c);
	}
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	for (size_t i = 0; !rc && i < ss->plan->n_cases; i++)
		if (r->slots[i] && r->first[i] == i &&
		    bb_session__drive(ss, &ss->plan->cases[i]) == drive)
			rc = judge_variant(r, i, &before[i]);
	detach_drive(r, drive);
	free(turns);
	free(before);
	return rc;
}

/* Every variant loaded anew, in random order, so that no variant always gets the freshest memory.
 */
static int load_all(struct run *r, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	size_t n = ss->plan->scenario->n_variants;
	uint32_t *order = calloc(n, sizeof(*order));
	int rc = 0;

	if (!order)
		return bb_fail_nomem(err);
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	bb_rng_shuffle(&ss->rng, order, n);
	for (size_t i = 0; !rc && i < n; i++)
		if (ss->usable[order[i]] && !(rc = bb_must_end_why()))
			rc = bb_placement__load(&r->places[order[i]], &ss->subjects[order[i]],
						&ss->rng, err);
	free(order);
	return rc;
}

static void note_steal(struct run *r, uint32_t load, double steal)
{
	struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		if (r->case_of[i] == SIZE_MAX || !r->report->cases[r->case_of[i]].n_series)
			continue;
		if (ss->drives[bb_session__drive(ss, &ss->plan->cases[i])].driver->kind.synthetic)
			continue;
		if (series_of(r, i)->load == load)
			series_of(r, i)->steal = steal;
	}
}

static bool is_timed(const struct bb_session *ss, size_t drive)
{
	return ss->drives[drive].driver && !ss->drives[drive].driver->kind.counts;
}

static size_t count_timed_drives(const struct bb_session *ss)
{
	size_t n = 0;

	for (size_t d = 0; d < ss->plan->scenario->n_drives; d++)
		n += is_timed(ss, d);
	return n;
}

/* All cases of a drive take part in the same rounds. */
static bool has_turn(const struct run *r, size_t drive, uint32_t load)
{
	const struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++)
		if (bb_session__drive(ss, &ss->plan->cases[i]) == drive)
			return bb_plan_case__has_turn(ss->plan, &ss->plan->cases[i], load);
	return false;
}

static int run_round(struct run *r, uint32_t load, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	struct bb_cpu_times before, after;
	bool timed = !bb_cpu_times__read(ss->opts->driver.cpu, &before, NULL);
	int rc;

	r->round_ns = bb_now_ns();
	r->round_s = bb_deadline_left_s() / (ss->plan->loads - load);
	r->drives_left = count_timed_drives(ss);
	rc = load_all(r, err);
	for (size_t d = 0; !rc && d < ss->plan->scenario->n_drives; d++) {
		if (!is_timed(ss, d))
			continue;
		if (has_turn(r, d, load))
			rc = run_drive(r, d, load, err);
		r->drives_left--;
	}
	if (timed && !bb_cpu_times__read(ss->opts->driver.cpu, &after, NULL))
		note_steal(r, load, bb_steal_share(&before, &after));
	return rc;
}

static int note_budget(struct run *r, uint32_t done_loads, struct bb_err *err)
{
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s/loads %u..%u", r->session.plan->scenario->name,
		 done_loads + 1, r->session.plan->loads);
	snprintf(why, sizeof(why), "the budget of %g s would be exceeded; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

/* How many of the first `loads` rounds the cell takes part in. */
static uint32_t rounds_of(const struct bb_plan *plan, const struct bb_plan_case *c, uint32_t loads)
{
	uint32_t n = 0;

	for (uint32_t load = 0; load < loads; load++)
		n += bb_plan_case__has_turn(plan, c, load);
	return n;
}

/* Samples, or of a drive that goes by time ms, that the loads which were begun took and wanted. */
static void count_samples(const struct run *r, size_t cell, uint32_t loads, uint64_t *ret_taken,
			  uint64_t *ret_wanted)
{
	const struct bb_plan *plan = r->session.plan;
	const struct bb_plan_case *c = &plan->cases[cell];
	const struct bb_case *k = &r->report->cases[r->case_of[cell]];
	double taken_s = 0;

	*ret_taken = 0;
	for (size_t i = 0; i < k->n_series; i++) {
		*ret_taken += k->series[i].fired;
		taken_s += k->series[i].elapsed_s;
	}
	*ret_wanted = (uint64_t)rounds_of(plan, c, loads) * per_load(c);
	if (c->seconds > 0) { /* the last window ends when it ends */
		*ret_taken = (uint64_t)(1e3 * taken_s + 1);
		*ret_wanted = (uint64_t)(1e3 * c->seconds / c->loads * rounds_of(plan, c, loads));
	}
}

/* Cases that nothing was measured of: the first ones by name. */
static int note_unmeasured(struct run *r, size_t n, const size_t *cells, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	char what[600], why[200 + MOST_NAMED * sizeof(plan->cases->name)];
	size_t at;

	if (!n)
		return 0;
	snprintf(what, sizeof(what), "%s: %zu of %zu cases", plan->scenario->name, n,
		 plan->n_cases);
	at = (size_t)snprintf(why, sizeof(why),
			      "not measured within the budget of %g s, --budget gives more: ",
			      r->session.opts->budget_s);
	for (size_t i = 0; i < n && i < MOST_NAMED; i++)
		at += (size_t)snprintf(why + at, sizeof(why) - at, "%s%s", i ? ", " : "",
				       plan->cases[cells[i]].name);
	if (n > MOST_NAMED)
		snprintf(why + at, sizeof(why) - at, " and %zu more", n - MOST_NAMED);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

static int note_fewer(struct run *r, size_t cell, uint64_t taken, uint64_t wanted,
		      struct bb_err *err)
{
	const struct bb_plan_case *c = &r->session.plan->cases[cell];
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s: %llu of %llu %s", c->name,
		 (unsigned long long)(wanted - taken), (unsigned long long)wanted,
		 c->seconds > 0 ? "ms" : "samples");
	snprintf(why, sizeof(why), "the budget of %g s holds no more; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

/* What the budget left out of the `loads` that were begun. -ETIME when that is all. */
static int note_left_out(struct run *r, uint32_t loads, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	size_t *none = calloc(plan->n_cases, sizeof(*none)), n_none = 0;
	int rc = none ? 0 : bb_fail_nomem(err);

	for (size_t i = 0; !rc && i < plan->n_cases; i++) {
		uint64_t taken, wanted;

		if (r->case_of[i] == SIZE_MAX)
			continue;
		count_samples(r, i, loads, &taken, &wanted);
		if (taken >= wanted)
			continue;
		bb_case__drop_empty_series(&r->report->cases[r->case_of[i]]);
		if (!r->report->cases[r->case_of[i]].n_series)
			none[n_none++] = i;
		else
			rc = note_fewer(r, i, taken, wanted, err);
	}
	if (!rc)
		rc = note_unmeasured(r, n_none, none, err);
	bb_report__drop_empty_cases(r->report);
	if (!rc && n_none && !bb_report__has_samples(r->report))
		rc = bb_fail(err, -ETIME,
			     "scenario '%s': the budget of %g s was used up before anything was "
			     "measured; --budget gives more",
			     plan->scenario->name, r->session.opts->budget_s);
	free(none);
	return rc;
}

static bool is_variant_placed(const struct run *r, size_t variant)
{
	const struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++)
		if (r->case_of[i] != SIZE_MAX && is_placed(&ss->plan->cases[i]) &&
		    bb_session__variant(ss, &ss->plan->cases[i]) == variant)
			return true;
	return false;
}

static int find_places(struct run *r, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	size_t n = ss->plan->scenario->n_variants;
	double left_s = bb_deadline_left_s();
	int rc = 0;

	for (size_t v = 0; !rc && v < n; v++)
		if (ss->usable[v] && is_variant_placed(r, v))
			rc = bb_placement__find(&r->places[v], &ss->subjects[v], &ss->rng,
						fmin(PLACING_MOST_S,
						     PLACING_SHARE * left_s / (double)n),
						err);
	bb_calm__begin(&r->calm, fmin(WAITING_MOST_S, WAITING_SHARE * left_s));
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
static void note_shares(struct run *r)
{
	struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];
		struct bb_case *k;

		if (r->case_of[i] == SIZE_MAX || !is_placed(c))
			continue;
		k = &r->report->cases[r->case_of[i]];
		for (size_t s = 0; s < k->n_series; s++)
			k->series[s].jit_share =
				bb_placement_share(&ss->subjects[bb_session__variant(ss, c)],
						   k->series[s].jit_mod64);
	}
}

/* For a plan with drives that fire programs. Where the kernel has no such test runs, a skip says
 * so.
 */
static int open_references(struct run *r, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	bool needed = false;
	int rc;

	for (size_t i = 0; i < plan->n_cases; i++)
		needed |= r->case_of[i] != SIZE_MAX && is_placed(&plan->cases[i]);
	if (!needed)
		return 0;
	rc = bb_unless_broken_off(
		bb_references__open(r->session.opts->driver.object_dir, &r->references, err));
	if (rc != -ENOTSUP)
		return rc;
	return bb_report__add_skip(r->report, "references", err->msg) ? bb_fail_nomem(err) : 0;
}

static int run_rounds(struct run *r, struct bb_err *err)
{
	uint32_t load = 0, loads = r->session.plan->loads;
	uint64_t began_ns = bb_now_ns();
	int rc = find_places(r, err);

	for (; !rc && load < loads; load++) {
		/* A round may take as long as the average one did. */
		if (load && bb_seconds_since(began_ns) / load > bb_deadline_left_s())
			break;
		rc = run_round(r, load, err);
	}
	note_shares(r);
	for (size_t i = 0; !rc && i < r->report->n_cases; i++)
		rc = judge_emptied(&r->report->cases[i], err);
	if (rc == -ETIME) /* all that it did counts */
		rc = 0;
	if (!rc && load < loads)
		rc = note_budget(r, load, err);
	if (!rc && (r->is_cut || bb_deadline_has_passed))
		rc = note_left_out(r, load, err);
	return rc;
}

/* What a cell in situ brings a second at the most: twice its frequency, the packets of a request,
 * or who knows. */
/* A live program whose owner has gone since it was last taken up, at the beginning of its last
 * slice. */
static int note_gone(struct run *r, struct bb_err *err)
{
	const struct bb_scenario *sc = r->session.plan->scenario;
	char what[256];

	for (size_t v = 0; v < sc->n_variants; v++) {
		struct bb_err why = {0};

		if (!r->session.usable[v] || !bb_variant_is_live(&sc->variants[v]) ||
		    bb_test_prog__load(&r->session.subjects[v], &r->session.rng, BB_ANYWHERE, 1,
				       &why) != -ENOENT)
			continue;
		snprintf(what, sizeof(what), "%s/%s: the end of its last slice", sc->name,
			 sc->variants[v].name);
		if (bb_report__add_skip(r->report, what, why.msg))
			return bb_fail_nomem(err);
	}
	return 0;
}

static double most_samples_hz(const struct bb_plan_case *c)
{
	if (!c->param)
		return 1e5;
	return c->drive->kind->samples_per_event * (double)c->param_value;
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
		size_t n = room ? room : (size_t)(c->seconds / c->loads * most_samples_hz(c)) + 64;

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
		struct bb_test_prog *s = &ss->subjects[v];

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
	struct run r = {.report = report};
	struct bb_deadline budget;
	struct bb_err local = {0};
	int rc;

	err = err ? err : &local;
	bb_deadline__begin(&budget, opts->budget_s);
	rc = bb_session__open(plan, opts, report, &r.session, err);
	if (rc) {
		bb_deadline__end(&budget);
		return rc == -EINTR ? bb_record__incomplete(report, rc, err) : rc;
	}
	r.ns_size = batch_size(plan);
	r.case_of = calloc(plan->n_cases, sizeof(*r.case_of));
	r.first = calloc(plan->n_cases, sizeof(*r.first));
	r.next = calloc(plan->n_cases, sizeof(*r.next));
	r.slots = calloc(plan->n_cases, sizeof(*r.slots));
	r.ns = calloc(r.ns_size, sizeof(*r.ns));
	r.places = calloc(plan->scenario->n_variants + 1, sizeof(*r.places));
	rc = r.case_of && r.first && r.next && r.slots && r.ns && r.places ? link_cells(&r, err)
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
		rc = run_rounds(&r, err);
	if (!rc)
		rc = note_gone(&r, err);
	if (!rc)
		rc = bb_note_lines(&r.session, report, err);
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
	bb_session__close(&r.session);
	return rc;
}
