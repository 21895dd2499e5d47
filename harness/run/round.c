/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/round.h"

#include "base/deadline.h"
#include "env/sysfile.h"
#include "run/record.h"
#include "stats/special.h"

#define SETUP_S 5e-3 /* typical time of a load, for the progress bar, s */

/* Smallest time limit of a turn, s. Turns of fast programs need less. */
#define TURN_LEAST_S 0.1
/* a turn of exact samples has this many times as many samples as other turns */
#define EXACT_TURNS 10u

/* Most loads for finding the places (JIT addresses modulo 64) of a program. If a place gets 1 of 14
 * loads on average, all these loads miss it with a probability of 0.06 %. */
#define FIND_LOADS 100u
#define FIND_SHARE 0.5 /* finding the places may use this share of the time for extra loads */
/* the chi-square test needs this many expected loads at each place (Cochran 1954) */
#define LEAST_EXPECTED 5.0
#define NORMAL_0_001 3.0902 /* 99.9 % quantile of the standard normal distribution */
/* the shares are unknown if all loads may have missed a place with more than this probability */
#define MISSED_MOST 0.05

static int load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		bool is_extra, struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	int rc = bb_test_prog__load(prog, rng, BB_ANYWHERE, 1, err);
	double took_s = bb_seconds_since(began_ns);

	p->load_s = fmax(p->load_s, took_s);
	p->spent_s += is_extra ? took_s : 0;
	return rc;
}

int bb_placement__find(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       double most_s, struct bb_err *err)
{
	int rc = 0;

	*p = (struct bb_placement){.most_s = most_s};
	if (!prog->target || bb_target__is_live(prog->target))
		return 0;
	for (unsigned int i = 0; !rc && i < FIND_LOADS; i++) {
		if (p->spent_s + p->load_s > FIND_SHARE * most_s || bb_must_end())
			break;
		rc = load(p, prog, rng, true, err);
		if (prog->jit_mod64 < 0)
			break;
	}
	return rc;
}

/* Returns true if no other place of the program was used less often than the place `mod64`. */
static bool is_wanted(const struct bb_placement *p, const struct bb_test_prog *prog, int mod64)
{
	for (int i = 0; i < BB_PLACES; i++)
		if (prog->seen_mod64[i] && p->taken[i] < p->taken[mod64])
			return false;
	return true;
}

int bb_placement__load(struct bb_placement *p, struct bb_test_prog *prog, struct bb_rng *rng,
		       struct bb_err *err)
{
	int rc = load(p, prog, rng, false, err);

	if (!prog->target || bb_target__is_live(prog->target))
		return rc;
	while (!rc && prog->jit_mod64 >= 0 && !is_wanted(p, prog, prog->jit_mod64) &&
	       p->spent_s + p->load_s <= p->most_s && !bb_must_end())
		rc = load(p, prog, rng, true, err);
	if (!rc && prog->jit_mod64 >= 0)
		p->taken[prog->jit_mod64]++;
	return rc;
}

double bb_placement_share(const struct bb_test_prog *prog, int mod64)
{
	double n = 0, places = 0, expected, chi_square = 0;

	if (!prog->target || mod64 < 0 || !prog->seen_mod64[mod64])
		return NAN;
	for (int i = 0; i < BB_PLACES; i++) {
		n += prog->seen_mod64[i];
		places += prog->seen_mod64[i] > 0;
	}
	expected = n / places;
	for (int i = 0; i < BB_PLACES; i++)
		if (prog->seen_mod64[i])
			chi_square += (prog->seen_mod64[i] - expected) *
				      (prog->seen_mod64[i] - expected) / expected;
	if (expected >= LEAST_EXPECTED && places > 1 &&
	    chi_square > bb_chi_square_limit(NORMAL_0_001, places - 1))
		return prog->seen_mod64[mod64] / n;
	/* After few loads, the program may have a further place that no load got yet. pow() is the
	 * probability of this, for a place that is as frequent as the others. */
	return pow(places / (places + 1), n) <= MISSED_MOST ? 1 / places : (double)NAN;
}

uint32_t bb_round__samples(const struct bb_plan_case *c)
{
	return (c->samples + c->loads - 1) / c->loads;
}

uint32_t bb_round__turn(const struct bb_plan_case *c, bool is_exact)
{
	uint32_t turn = bb_drive_pace(c->drive)->turn;

	return is_exact && !c->drive->kind->by_line ? EXACT_TURNS * turn : turn;
}

double bb_round__expected_s(const struct bb_plan_case *c)
{
	const struct bb_pace *pace = bb_drive_pace(c->drive);

	if (c->seconds > 0)
		return c->seconds / c->loads;
	return (bb_round__samples(c) + pace->warmup_first) * pace->sample_s + SETUP_S;
}

bool bb_round__is_placed(const struct bb_plan_case *c)
{
	const struct bb_drive_kind *kind = c->drive->kind;

	/* a drive with its own floor times a whole event, and this time depends little on the
	 * place */
	return kind->needs_bpf && !kind->counts && !kind->own_floor && !(c->seconds > 0);
}

static bool is_of(const struct bb_run *r, size_t planned, size_t drive)
{
	return bb_session__drive(&r->session, &r->session.plan->cases[planned]) == drive &&
	       r->case_of[planned] != SIZE_MAX;
}

static struct bb_test_prog *prog_of(struct bb_run *r, size_t planned)
{
	struct bb_session *ss = &r->session;

	return &ss->progs[bb_session__variant(ss, &ss->plan->cases[planned])];
}

static struct bb_series *series_of(struct bb_run *r, size_t planned)
{
	struct bb_case *c = bb_run__case(r, planned);

	return &c->series[c->n_series - 1];
}

static uint32_t samples_of(const struct bb_run *r, const struct bb_plan_case *c)
{
	return r->rounds < r->session.plan->loads ? (c->samples + r->rounds - 1) / r->rounds
						  : bb_round__samples(c);
}

/* Returns the number of turns of the case in a round. It is 1 for drives that measure for a fixed
 * time or have no turns. It is also 1 for slow programs, which then warm up only once. */
static uint32_t turns_of(const struct bb_run *r, size_t planned)
{
	const struct bb_plan_case *c = &r->session.plan->cases[planned];
	uint32_t turn = bb_round__turn(c, r->session.opts->driver.is_exact);

	return c->seconds > 0 || !turn || r->cases[planned].is_slow
		       ? 1
		       : (samples_of(r, c) + turn - 1) / turn;
}

static double round_left_s(const struct bb_run *r)
{
	return r->round_s - bb_seconds_since(r->round_ns);
}

static int run_turn(struct bb_run *r, size_t planned, size_t turns_left, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	const struct bb_plan_case *c = &ss->plan->cases[planned];
	const struct bb_pace *pace = bb_drive_pace(c->drive);
	uint32_t turn = bb_round__turn(c, ss->opts->driver.is_exact);
	struct bb_case *k = bb_run__case(r, planned);
	struct bb_series *s = series_of(r, planned);
	struct bb_batch b = {.ns = r->ns,
			     .drain_each_run = c->drive->step.consumer == BB_DRAIN_EACH_RUN};
	uint32_t left = samples_of(r, c) - (uint32_t)s->fired;
	bool counts_wakeups = c->drive->kind->one_by_one && isnan(k->wakeups), is_slow;
	uint64_t irq_works = 0, after;

	if (!(c->seconds > 0)) {
		if (c->drive->kind->needs_bpf && !ss->opts->driver.is_exact)
			bb_calm__wait(&r->calm);
		b.want = left < turn ? left : turn;
		b.warmup = s->fired ? pace->warmup_turn : pace->warmup_first;
		/* the turn's share of the time left in the round, s */
		b.max_s = round_left_s(r) / (double)r->drives_left / (double)turns_left;
		b.max_s = isinf(b.max_s) ? 0 : fmax(b.max_s, TURN_LEAST_S);
	} else {
		b.want = r->ns_size;
		b.max_s = c->seconds / c->loads;
	}
	counts_wakeups = counts_wakeups &&
			 !bb_irq_works__read("", ss->opts->driver.cpu, &irq_works, NULL);
	b.mix_paths = ss->mix_paths ? &ss->mix_paths[planned] : NULL;
	int rc = bb_record__measure(r->cases[planned].slot, c->driver_param, &b, s, err);
	if (!rc && b.emptied && !k->emptied)
		k->emptied = bb_strdup(b.emptied);
	if (!rc && b.returned[0] && !k->returned)
		k->returned = bb_strdup(b.returned);
	if (!rc && c->variant->fill_count && isnan(k->map_bytes))
		k->map_bytes = bb_target__filled_bytes(prog_of(r, planned)->target);
	/* Stores how often a run interrupts its own CPU. One turn is enough for this. */
	if (!rc && counts_wakeups && b.fired + b.warmup &&
	    !bb_irq_works__read("", ss->opts->driver.cpu, &after, NULL))
		k->wakeups = (double)(after - irq_works) / (double)(b.fired + b.warmup);
	is_slow = b.max_s > 0 && !(c->seconds > 0) && b.fired < b.want;
	r->cases[planned].is_slow = is_slow;
	r->is_cut |= is_slow;
	return rc;
}

static int attach_drive(struct bb_run *r, size_t drive, uint32_t load, struct bb_err *err)
{
	const struct bb_open_drive *d = &r->session.drives[drive];

	for (size_t i = 0; i < r->session.plan->n_cases; i++) {
		struct bb_test_prog *prog = prog_of(r, i);
		size_t first = r->cases[i].first;

		if (!is_of(r, i, drive))
			continue;
		int rc = bb_must_end_why();
		if (rc)
			return rc;
		bb_record__series(bb_run__case(r, i), load, prog->jit_mod64)->hist.is_exact =
			r->session.opts->driver.is_exact;
		if (first != i) {
			r->cases[i].slot = r->cases[first].slot;
			continue;
		}
		rc = bb_test_prog__reset_maps(prog, err);
		if (!rc)
			rc = bb_record__attach(d->state, prog, &r->cases[i].slot, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Checks this round's series of one variant and drive against the kernel's counts. A series with
 * wrong counts becomes void. */
static void judge_variant(struct bb_run *r, size_t first)
{
	const struct bb_drive_slot *slot = r->cases[first].slot;
	const struct bb_drive_kind *kind = &slot->state->driver->kind;
	int want_drops = r->session.plan->scenario->expect_drops;
	uint64_t misses;
	char why[300];

	bb_record__check(slot, &misses, why, sizeof(why));
	for (size_t i = first; i != BB_NO_CASE; i = r->cases[i].next) {
		struct bb_series *s = series_of(r, i);

		s->misses = misses;
		if (why[0])
			bb_record__void(s, "%s", why);
		else if (kind->fires && !kind->stats_off &&
			 !bb_record__all_ran(slot->prog, s->run_cnt, s->fired))
			bb_record__void(s, "run_cnt is %llu, %llu events were fired",
					(unsigned long long)s->run_cnt,
					(unsigned long long)s->fired);
		else if (want_drops >= 0 && s->drops != (uint64_t)want_drops)
			bb_record__void(s, "%llu drops, %d expected", (unsigned long long)s->drops,
					want_drops);
	}
}

/* Measures the references once, if a case of the drive needs them. Stores their times in the series
 * of all cases whose latency depends on the place of the program. */
static void measure_references(struct bb_run *r, size_t drive)
{
	bool is_measured = false;
	double ns[BB_N_REFERENCES];

	for (size_t i = 0; r->references && i < r->session.plan->n_cases; i++) {
		if (!is_of(r, i, drive) || !bb_round__is_placed(&r->session.plan->cases[i]))
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
	const struct bb_run *before = r->session.opts->before;
	const struct bb_progress *p = r->session.opts->progress;
	double had_s = bb_seconds_since(r->began_ns), done = r->done, total = r->total;

	/* `within` is all the work that the run can do within its budget. If more work is planned,
	 * the run ends early. If lines are compared, rounds may be added until the budget is used
	 * up. */
	if (had_s > 0 && done > 0) {
		double within = done * (1 + bb_deadline_left_s() / had_s);

		total = r->session.opts->lines && isfinite(within) ? within : fmin(total, within);
	}
	if (before) { /* adds the progress of earlier processes of this run */
		done += before->done;
		total = before->total;
	}
	if (p)
		p->update(p->arg, done, total, r->session.plan->cases[planned].name);
}

static int run_turns(struct bb_run *r, size_t drive, struct bb_err *err)
{
	uint32_t *turns = NULL;
	size_t n = 0, left;
	int rc = 0;

	for (size_t i = 0; i < r->session.plan->n_cases; i++)
		for (uint32_t t = is_of(r, i, drive) ? turns_of(r, i) : 0; t > 0; t--)
			BB_PUSH(turns, n, (uint32_t)i);
	bb_rng_shuffle(&r->session.rng, turns, n);
	for (size_t i = 0; !rc && i < n && !bb_must_end(); i++) {
		/* in a round that is late, only cases without samples get a turn */
		if (r->is_cut && round_left_s(r) < 0 && series_of(r, turns[i])->fired)
			continue;
		report_progress(r, turns[i]);
		r->done += bb_round__expected_s(&r->session.plan->cases[turns[i]]) /
			   (double)turns_of(r, turns[i]);
		/* only slow turns share the time left, because other turns use little of it */
		left = r->cases[turns[i]].is_slow ? BB_SUM(&turns[i], n - i, r->cases[*it].is_slow)
						  : n - i;
		rc = run_turn(r, turns[i], left, err);
	}
	free(turns);
	return !rc && bb_stop_signal ? -EINTR : rc;
}

static int run_drive(struct bb_run *r, size_t drive, uint32_t load, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	int rc = bb_session__stats_for(ss, drive, err);

	if (!rc)
		rc = attach_drive(r, drive, load, err);
	if (!rc) {
		measure_references(r, drive);
		rc = run_turns(r, drive, err);
	}
	for (size_t i = 0; i < ss->plan->n_cases; i++)
		if (!rc && is_of(r, i, drive) && r->cases[i].slot && r->cases[i].first == i)
			judge_variant(r, i);
	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		if (!is_of(r, i, drive))
			continue;
		if (r->cases[i].first == i)
			bb_driver__detach(r->cases[i].slot);
		r->cases[i].slot = NULL;
	}
	return rc;
}

/* Loads the variants in random order, so that no variant always gets the memory that was freed
 * last. */
static int load_all(struct bb_run *r, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	size_t n = ss->plan->scenario->n_variants;
	uint32_t *order = bb_calloc(n, sizeof(*order));
	int rc = 0;

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

int bb_round__measure(struct bb_run *r, uint32_t load, struct bb_err *err)
{
	struct bb_session *ss = &r->session;
	size_t n = ss->plan->scenario->n_drives;
	struct bb_cpu_times before, after;
	bool timed = !bb_cpu_times__read("", ss->opts->driver.cpu, &before, NULL);

	r->round_ns = bb_now_ns();
	r->round_s = bb_deadline_left_s() / (r->rounds - load);
	r->drives_left = BB_SUM(ss->drives, n, it->driver && !it->driver->kind.counts);
	/* Each round loads all programs again. If opening the programs used up the time, the first
	 * round does not: it measures the programs as they were loaded when they were opened. */
	int rc = load || !ss->out_of_time ? load_all(r, err) : 0;
	for (size_t d = 0; !rc && d < n; d++) {
		const struct bb_driver *driver = ss->drives[d].driver;

		if (!driver || driver->kind.counts)
			continue;
		/* all cases of a drive take part in the same rounds, so the first tells for all */
		const struct bb_plan_case *c = BB_FIND(ss->plan->cases, ss->plan->n_cases,
						       bb_session__drive(ss, it) == d);
		if (c && bb_plan_case__has_turn(ss->plan, c, load))
			rc = run_drive(r, d, load, err);
		r->drives_left--;
	}
	if (!timed || bb_cpu_times__read("", ss->opts->driver.cpu, &after, NULL))
		return rc;
	for (size_t i = 0; i < ss->plan->n_cases; i++) {
		const struct bb_case *k = bb_run__case(r, i);

		if (k && k->n_series && series_of(r, i)->load == load &&
		    !ss->plan->cases[i].drive->kind->synthetic)
			series_of(r, i)->steal = bb_steal_share(&before, &after);
	}
	return rc;
}
