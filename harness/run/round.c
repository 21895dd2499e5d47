/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/round.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "env/proc_counts.h"
#include "run/record.h"

#define SETUP_S 5e-3 /* of a load, about: what the progress bar takes it for */

/* A turn of fast programs is over long before, even where others keep it from its CPU. */
#define TURN_LEAST_S 0.1

uint32_t bb_round__samples(const struct bb_plan_case *c)
{
	return (c->samples + c->loads - 1) / c->loads;
}

/* Samples that a case takes in each round of this run. */
static uint32_t samples_of(const struct bb_run *r, const struct bb_plan_case *c)
{
	return r->rounds < r->session.plan->loads ? (c->samples + r->rounds - 1) / r->rounds
						  : bb_round__samples(c);
}

/* The turns that a case has in a round. A kind without a length of turn does all in one, and so
 * does a slow program: it warms up once. */
static uint32_t turns_of(const struct bb_run *r, size_t planned)
{
	const struct bb_plan_case *c = &r->session.plan->cases[planned];
	uint32_t turn = bb_drive_pace(c->drive)->turn;

	return c->seconds > 0 || !turn || r->is_slow[planned]
		       ? 1
		       : (samples_of(r, c) + turn - 1) / turn;
}

double bb_round__expected_s(const struct bb_plan_case *c)
{
	const struct bb_pace *pace = bb_drive_pace(c->drive);

	if (c->seconds > 0)
		return c->seconds / c->loads;
	return (bb_round__samples(c) + pace->warmup_first) * pace->sample_s + SETUP_S;
}

static struct bb_series *series_of(struct bb_run *r, size_t planned)
{
	struct bb_case *c = &r->report->cases[r->case_of[planned]];

	return &c->series[c->n_series - 1];
}

/* What is left of the round's share of the budget; below 0: it has had more. */
static double round_left_s(const struct bb_run *r)
{
	return r->round_s - bb_seconds_since(r->round_ns);
}

/* One turn of one case: BLOCK samples, or for in-situ the whole slice of the round. */
static int run_block(struct bb_run *r, size_t planned, size_t turns_left, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	const struct bb_plan_case *c = &ss->plan->cases[planned];
	const struct bb_open_drive *d = &ss->drives[bb_session__drive(ss, c)];
	const struct bb_test_prog *prog = &ss->progs[bb_session__variant(ss, c)];
	const struct bb_pace *pace = bb_drive_pace(c->drive);
	struct bb_series *s = series_of(r, planned);
	uint32_t left = samples_of(r, c) - (uint32_t)s->fired;
	struct bb_batch b = {.ns = r->ns,
			     .drain_each_run = c->drive->step.consumer == BB_DRAIN_EACH_RUN};
	struct bb_case *k = &r->report->cases[r->case_of[planned]];
	bool counts_wakeups = c->drive->kind->one_by_one && isnan(k->wakeups);
	uint64_t irq_works = 0, after;
	int rc;

	if (!(c->seconds > 0)) {
		if (c->drive->kind->needs_bpf)
			bb_calm__wait(&r->calm);
		b.want = left < pace->turn ? left : pace->turn;
		b.warmup = s->fired ? pace->warmup_turn : pace->warmup_first;
		/* its share of what is left of the round's */
		b.max_s = round_left_s(r) / (double)r->drives_left / (double)turns_left;
		b.max_s = isinf(b.max_s) ? 0 : fmax(b.max_s, TURN_LEAST_S);
	} else {
		b.want = r->ns_size;
		b.max_s = c->seconds / c->loads;
	}
	counts_wakeups &= counts_wakeups &&
			  !bb_irq_works__read("", ss->opts->driver.cpu, &irq_works, NULL);
	rc = bb_record__measure(d->driver, d->state, r->slots[planned], prog, c->driver_param, &b,
				s, err);
	if (!rc && b.emptied && !k->emptied && !(k->emptied = strdup(b.emptied)))
		rc = bb_fail_nomem(err);
	/* how often a run of the case interrupts its own CPU, by its first turn */
	if (!rc && counts_wakeups && b.fired + b.warmup &&
	    !bb_irq_works__read("", ss->opts->driver.cpu, &after, NULL))
		k->wakeups = (double)(after - irq_works) / (double)(b.fired + b.warmup);
	r->is_slow[planned] = b.max_s > 0 && !(c->seconds > 0) && b.fired < b.want;
	r->is_cut |= r->is_slow[planned];
	return rc;
}

/* A random order of turns: every case of the drive as often as it has blocks. */
static int order_turns(struct bb_run *r, size_t drive, uint32_t **ret_turns, size_t *ret_n,
		       struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	uint32_t *turns = NULL;
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (size_t i = 0; i < ss->plan->n_cases; i++) {
			if (bb_session__drive(ss, &ss->plan->cases[i]) != drive ||
			    r->case_of[i] == SIZE_MAX)
				continue;
			for (uint32_t t = turns_of(r, i); t > 0; t--, n++)
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

static void detach_drive(struct bb_run *r, size_t drive)
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

static int attach_drive(struct bb_run *r, size_t drive, uint32_t load, struct bb_prog_stats *before,
			struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	int rc = 0;

	for (size_t i = 0; !rc && i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];
		struct bb_test_prog *prog = &ss->progs[bb_session__variant(ss, c)];
		size_t first = r->first[i];

		if (bb_session__drive(ss, c) != drive || r->case_of[i] == SIZE_MAX)
			continue;
		rc = bb_must_end_why();
		if (rc)
			break;
		if (!bb_record__series(&r->report->cases[r->case_of[i]], load, prog->jit_mod64))
			rc = bb_fail_nomem(err);
		if (!rc && first != i) {
			r->slots[i] = r->slots[first];
			continue;
		}
		if (!rc)
			rc = bb_test_prog__reset_maps(prog, err);
		if (!rc)
			rc = bb_unless_broken_off(
				ss->drives[drive].driver->attach(ss->drives[drive].state, prog,
								 &r->slots[i], err));
		if (!rc && prog->target)
			rc = bb_stats_reader__agreed(bb_target__reader(prog->target), &before[i],
						     err);
	}
	return rc;
}

/* One variant's series of this round and drive against the kernel's own totals: void what does not
 * add up. */
static int judge_variant(struct bb_run *r, size_t first, const struct bb_prog_stats *before)
{
	struct bb_session *ss = &r->session;
	const struct bb_plan_case *c = &ss->plan->cases[first];
	const struct bb_driver *driver = ss->drives[bb_session__drive(ss, c)].driver;
	const struct bb_test_prog *prog = &ss->progs[bb_session__variant(ss, c)];
	int want_drops = ss->plan->scenario->expect_drops, rc = 0;
	uint64_t fired = 0, misses;
	char why[300];

	for (size_t i = first; i != BB_NO_CASE; i = r->next[i])
		fired += series_of(r, i)->fired + series_of(r, i)->warmup;
	bb_record__check(driver, prog, before, fired, &misses, why, sizeof(why));
	for (size_t i = first; !rc && i != BB_NO_CASE; i = r->next[i]) {
		struct bb_series *s = series_of(r, i);

		s->misses = misses;
		if (why[0])
			rc = bb_record__void(s, "%s", why);
		else if (driver->kind.fires && !driver->kind.stats_off &&
			 !bb_record__all_ran(prog, s->run_cnt, s->fired))
			rc = bb_record__void(s, "run_cnt is %llu, %llu events were fired",
					     (unsigned long long)s->run_cnt,
					     (unsigned long long)s->fired);
		else if (want_drops >= 0 && s->drops != (uint64_t)want_drops)
			rc = bb_record__void(s, "%llu drops, %d expected",
					     (unsigned long long)s->drops, want_drops);
	}
	return rc;
}

bool bb_round__is_placed(const struct bb_plan_case *c)
{
	const struct bb_drive_kind *kind = c->drive->kind;

	/* of an event, the place of the code is a small part */
	return kind->needs_bpf && !kind->counts && !kind->own_floor && !(c->seconds > 0);
}

/* The references, for all series of the drive's part of this round. */
static void measure_references(struct bb_run *r, size_t drive)
{
	struct bb_session *ss = &r->session;
	double ns[BB_N_REFERENCES];

	bool is_measured = false;

	for (size_t i = 0; r->references && i < ss->plan->n_cases; i++) {
		const struct bb_plan_case *c = &ss->plan->cases[i];

		if (bb_session__drive(ss, c) != drive || r->case_of[i] == SIZE_MAX ||
		    !bb_round__is_placed(c))
			continue;
		if (!is_measured) {
			bb_calm__wait(&r->calm);
			bb_references__measure(r->references, ns);
		}
		is_measured = true;
		memcpy(series_of(r, i)->reference_ns, ns, sizeof(ns));
	}
}

static void report_progress(struct bb_run *r, size_t planned)
{
	const struct bb_progress *p = r->session.opts->progress;
	double had_s = bb_seconds_since(r->began_ns), total = r->total;

	/* the budget ends it, however long all of it would take */
	if (had_s > 0 && r->done > 0)
		total = fmin(total, r->done * (1 + bb_deadline_left_s() / had_s));
	if (p)
		p->update(p->arg, r->done, total, r->session.plan->cases[planned].name);
}

/* The turns that share what is left of the time: fast programs leave theirs to slow ones. */
static size_t turns_to_share(const struct bb_run *r, const uint32_t *turns, size_t n)
{
	size_t slow = 0;

	for (size_t i = 0; i < n; i++)
		slow += r->is_slow[turns[i]];
	return r->is_slow[turns[0]] ? slow : n;
}

/* One drive's part of a round. */
static int run_drive(struct bb_run *r, size_t drive, uint32_t load, struct bb_err *err)
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
		r->done += bb_round__expected_s(c) / (double)turns_of(r, turns[i]);
		rc = run_block(r, turns[i], turns_to_share(r, &turns[i], n - i), err);
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
static int load_all(struct bb_run *r, struct bb_err *err)
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
			rc = bb_placement__load(&r->places[order[i]], &ss->progs[order[i]],
						&ss->rng, err);
	free(order);
	return rc;
}

static void note_steal(struct bb_run *r, uint32_t load, double steal)
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

/* All cases of a drive take part in the same rounds. */
static bool has_turn(const struct bb_run *r, size_t drive, uint32_t load)
{
	const struct bb_session *ss = &r->session;

	for (size_t i = 0; i < ss->plan->n_cases; i++)
		if (bb_session__drive(ss, &ss->plan->cases[i]) == drive)
			return bb_plan_case__has_turn(ss->plan, &ss->plan->cases[i], load);
	return false;
}

int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	struct bb_cpu_times before, after;
	bool timed = !bb_cpu_times__read("", ss->opts->driver.cpu, &before, NULL);
	int rc;

	r->round_ns = bb_now_ns();
	r->round_s = bb_deadline_left_s() / (r->rounds - load);
	r->drives_left = 0;
	for (size_t d = 0; d < ss->plan->scenario->n_drives; d++)
		r->drives_left += is_timed(ss, d);
	/* where there was no time to load all, those that are loaded are measured as they are */
	rc = load || !ss->out_of_time ? load_all(r, err) : 0;
	for (size_t d = 0; !rc && d < ss->plan->scenario->n_drives; d++) {
		if (!is_timed(ss, d))
			continue;
		if (has_turn(r, d, load))
			rc = run_drive(r, d, load, err);
		r->drives_left--;
	}
	if (timed && !bb_cpu_times__read("", ss->opts->driver.cpu, &after, NULL))
		note_steal(r, load, bb_steal_share(&before, &after));
	return rc;
}

/* --- what a budget left out --- */

int bb_left_out__loads(struct bb_run *r, uint32_t first, uint32_t end, struct bb_err *err)
{
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s/loads %u..%u", r->session.plan->scenario->name, first + 1,
		 end);
	snprintf(why, sizeof(why), "the budget of %g s would be exceeded; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

/* How many of the first `loads` rounds the case takes part in. */
static uint32_t rounds_of(const struct bb_plan *plan, const struct bb_plan_case *c, uint32_t loads)
{
	uint32_t n = 0;

	for (uint32_t load = 0; load < loads; load++)
		n += bb_plan_case__has_turn(plan, c, load);
	return n;
}

/* Samples, or of a drive that goes by time ms, that the loads which were begun took and wanted. */
static void count_samples(const struct bb_run *r, size_t planned, uint32_t loads,
			  uint64_t *ret_taken, uint64_t *ret_wanted)
{
	const struct bb_plan *plan = r->session.plan;
	const struct bb_plan_case *c = &plan->cases[planned];
	const struct bb_case *k = &r->report->cases[r->case_of[planned]];
	double taken_s = 0;

	*ret_taken = 0;
	for (size_t i = 0; i < k->n_series; i++) {
		*ret_taken += k->series[i].fired;
		taken_s += k->series[i].elapsed_s;
	}
	*ret_wanted = (uint64_t)rounds_of(plan, c, loads) * bb_round__samples(c);
	if (c->seconds > 0) { /* the last window ends when it ends */
		*ret_taken = (uint64_t)(1e3 * taken_s + 1);
		*ret_wanted = (uint64_t)(1e3 * c->seconds / c->loads * rounds_of(plan, c, loads));
	}
}

/* Cases that nothing was measured of, all by name: nothing else says a word of them. */
static int note_unmeasured(struct bb_run *r, size_t n, const size_t *cases, struct bb_err *err)
{
	const struct bb_plan *plan = r->session.plan;
	char what[600], *why = NULL;
	size_t size = 0;
	FILE *out = n ? open_memstream(&why, &size) : NULL;
	bool done;

	if (!n)
		return 0;
	snprintf(what, sizeof(what), "%s: %zu of %zu cases", plan->scenario->name, n,
		 plan->n_cases);
	if (out)
		fprintf(out, "not measured within the budget of %g s, --budget gives more: ",
			r->session.opts->budget_s);
	for (size_t i = 0; out && i < n; i++)
		fprintf(out, "%s%s", i ? ", " : "", plan->cases[cases[i]].name);
	done = out && !fclose(out) && !bb_report__add_skip(r->report, what, why);
	free(why);
	return done ? 0 : bb_fail_nomem(err);
}

static int note_fewer(struct bb_run *r, size_t planned, uint64_t taken, uint64_t wanted,
		      struct bb_err *err)
{
	const struct bb_plan_case *c = &r->session.plan->cases[planned];
	char what[600], why[200];

	snprintf(what, sizeof(what), "%s: %llu of %llu %s", c->name,
		 (unsigned long long)(wanted - taken), (unsigned long long)wanted,
		 c->seconds > 0 ? "ms" : "samples");
	snprintf(why, sizeof(why), "the budget of %g s holds no more; --budget gives more",
		 r->session.opts->budget_s);
	return bb_report__add_skip(r->report, what, why) ? bb_fail_nomem(err) : 0;
}

int bb_left_out__samples(struct bb_run *r, uint32_t loads, struct bb_err *err)
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
