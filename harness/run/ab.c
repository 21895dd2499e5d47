/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/ab.h"

#include "base/deadline.h"
#include "run/count.h"
#include "run/record.h"
#include "stats/paired.h"

#define LEAST_PAIRS 7u    /* fewest pairs for a verdict (stats/paired.h) */
#define MAX_S_INSITU 0.25 /* longest turn in situ if the drive has no rate, s */
#define BLOCKS_MATCHED 8u
#define BLOCKS_UNMATCHED 4u
#define BLOCKS_INSITU 2u
/* If there is a budget, a turn that is not in situ ends after this time, s, even if samples are
 * missing. Only turns of slow programs take so long. */
#define RUN_LEAST_S 0.1
/* If there is a budget, each pair has a time limit. The limit is never shorter than this, s. */
#define PAIR_LEAST_S 1.0
/* One program is loaded again until its JIT address modulo 64 equals that of the other program, but
 * at most this often. JIT addresses are multiples of 4 or more, so 16 values are possible. About 13
 * loads are needed on average. */
#define MATCH_TRIES 400u

enum label { BASE, HEAD, FLOOR, N_LABELS };
static const char *const label_names[N_LABELS] = {"base", "head", "the floor"};

struct side {
	/* NULL if no program has this label. The floor's program may differ between drives. */
	struct bb_test_prog *prog;
	struct bb_drive_slot *slot;
	bool warm;
	bool is_new; /* true if the program was loaded again: it then needs a new series */
	/* Events fired in this side's turns since the program was attached, and runs that the
	 * driver saw, warm-up included. With same_load, the slot counts for base and head. */
	uint64_t fired, ran;
	uint64_t ns[2 * BB_PAIR_TURN_MOST]; /* ns[n]: samples of the block in progress */
	size_t n;
};

/* A comparison under one drive at one value of the drive's parameter. */
struct ab_case {
	size_t drive;
	/* indexes of cases in the plan; BB_NO_CASE if there is no floor */
	size_t planned[N_LABELS];
	size_t case_of[N_LABELS];
	size_t comparison;
	double tick_ns;
	bool active;
	bool has_pair; /* true if a pair was measured with the programs as they are loaded now */
};

struct ab {
	struct bb_session session;
	const struct bb_ab_opts *opts;
	struct side sides[N_LABELS];
	struct bb_test_prog second;
	struct ab_case *cases;
	size_t n_cases;
	double scratch[4 * BB_PAIR_TURN_MOST];
	/* why the pair that is being measured does not count; empty if it counts */
	char wrong[300];
	uint64_t began_ns;
	/* time limit of a pair, s (0 means no limit, other values are raised to PAIR_LEAST_S) */
	double pair_s;
	/* true if a pair of the drive that is being measured got fewer runs or blocks than
	 * planned */
	bool is_cut;
	bool is_open; /* true if a comparison of this drive has no verdict yet */
	/* true if a comparison without a verdict has too few pairs for an interval */
	bool is_bare;
};

static const struct bb_plan_case *planned_of(const struct ab *ab, const struct ab_case *c)
{
	return &ab->session.plan->cases[c->planned[BASE]];
}

static struct bb_series *series_of(struct ab *ab, const struct ab_case *c, enum label label)
{
	struct bb_case *k = &ab->session.report->cases[c->case_of[label]];

	return &k->series[k->n_series - 1];
}

static int measure_turn(struct ab *ab, const struct ab_case *c, enum label label,
			struct bb_err *err)
{
	const struct bb_plan_case *planned = &ab->session.plan->cases[c->planned[label]];
	const struct bb_pace *pace = bb_drive_pace(planned->drive);
	struct side *side = &ab->sides[label];
	struct bb_batch b = {.ns = side->ns + side->n,
			     .want = pace->pair_turn,
			     .drain_each_run = planned->drive->step.consumer == BB_DRAIN_EACH_RUN};

	if (!(planned->seconds > 0)) {
		b.warmup = side->warm ? pace->pair_warmup : pace->warmup_first;
		b.max_s = ab->pair_s > 0 ? RUN_LEAST_S : 0;
	} else {
		b.max_s = planned->param_value ? 4.0 * (double)b.want / planned->param_value + 0.05
					       : MAX_S_INSITU;
	}
	side->warm = true;
	int rc = bb_record__measure(side->slot, planned->driver_param, &b, series_of(ab, c, label),
				    err);
	ab->is_cut |= !(planned->seconds > 0) && b.fired < b.want;
	side->fired += b.fired + b.warmup;
	side->ran += b.run_cnt + b.warmup;
	side->n += b.n;
	if (b.void_why[0] && !ab->wrong[0])
		snprintf(ab->wrong, sizeof(ab->wrong), "%s: %s", label_names[label], b.void_why);
	/* simulates a slower program; rounds up or down at random, so that the mean stays exact */
	if (!rc && label == HEAD && ab->opts->inject != 0) {
		b.run_time_ns = 0;
		for (size_t i = 0; i < b.n; i++) {
			double ns = (double)b.ns[i] * (1 + ab->opts->inject);

			b.ns[i] = (uint64_t)(ns + bb_rng_double(&ab->session.rng));
			b.run_time_ns += b.ns[i];
		}
	}
	if (!rc && ab->opts->watch.batch && label != FLOOR)
		ab->opts->watch.batch(ab->opts->watch.arg, label == HEAD, &b);
	return rc;
}

/* Measures the turns of one block: ABBA or BAAB at random (A is base, B is head), then one turn of
 * the floor. Estimates that are unknown become NAN. */
static int measure_block(struct ab *ab, const struct ab_case *c, struct bb_pair *ret_block,
			 struct bb_err *err)
{
	const struct side *base = &ab->sides[BASE], *head = &ab->sides[HEAD],
			  *floor = &ab->sides[FLOOR];
	enum label first = bb_rng_below(&ab->session.rng, 2) ? HEAD : BASE,
		   order[] = {first, !first, !first, first, FLOOR};
	struct bb_pair o = {.d_net = NAN};
	const struct bb_case *k = &ab->session.report->cases[c->case_of[BASE]];
	int rc = 0;

	for (int l = 0; l < N_LABELS; l++)
		ab->sides[l].n = 0;
	for (size_t i = 0; !rc && i < BB_LEN(order); i++)
		if (c->planned[order[i]] != BB_NO_CASE)
			rc = measure_turn(ab, c, order[i], err);
	if (rc)
		return rc;
	struct bb_ab_block block = bb_ab_block_difference(floor->ns, floor->n, floor->ns, floor->n,
							  c->tick_ns, ab->scratch);
	o.floor_ns = bb_case__ns(k, block.mean_a_ns);
	block = bb_ab_block_difference(base->ns, base->n, head->ns, head->n, c->tick_ns,
				       ab->scratch);
	o.d = block.d;
	o.base_ns = bb_case__ns(k, block.mean_a_ns);
	o.head_ns = bb_case__ns(k, block.mean_b_ns);
	o.shift_ns = o.head_ns - o.base_ns;
	if (o.base_ns > o.floor_ns && o.head_ns > o.floor_ns)
		o.d_net = log((o.head_ns - o.floor_ns) / (o.base_ns - o.floor_ns));
	*ret_block = o;
	return 0;
}

static int measure_pair(struct ab *ab, struct ab_case *c, struct bb_err *err)
{
	static const size_t columns[] = {
		offsetof(struct bb_pair, d_net),    offsetof(struct bb_pair, shift_ns),
		offsetof(struct bb_pair, base_ns),  offsetof(struct bb_pair, head_ns),
		offsetof(struct bb_pair, floor_ns), offsetof(struct bb_pair, d),
	};
	const struct bb_test_prog *base = ab->sides[BASE].prog, *head = ab->sides[HEAD].prog;
	bool matched = base->jit_mod64 >= 0 && base->jit_mod64 == head->jit_mod64;
	bool by_time = planned_of(ab, c)->seconds > 0;
	size_t done = 0, n = by_time ? BLOCKS_INSITU : matched ? BLOCKS_MATCHED : BLOCKS_UNMATCHED;
	struct bb_pair blocks[BLOCKS_MATCHED], *pair;
	double x[BLOCKS_MATCHED];
	size_t used = 0;
	uint64_t began_ns = bb_now_ns();
	struct bb_sorted sorted;
	int rc = 0;

	ab->wrong[0] = '\0';
	while (!rc && done < n && !bb_must_end()) {
		rc = measure_block(ab, c, &blocks[done], err);
		done += !rc && !bb_must_end(); /* an interrupted block does not count */
		if (ab->pair_s > 0 && !by_time &&
		    bb_seconds_since(began_ns) > fmax(ab->pair_s, PAIR_LEAST_S))
			break;
	}
	ab->is_cut |= done < n;
	if (rc || !done)
		return rc;
	pair = BB_ADD(bb_pair_record, &ab->session.report->comparisons[c->comparison], pairs);
	pair->matched = matched;
	pair->base_mod64 = base->jit_mod64;
	pair->head_mod64 = head->jit_mod64;
	/* each estimate of the pair is its median over the blocks */
	for (size_t k = 0; k < BB_LEN(columns); k++) {
		for (size_t i = 0; i < done; i++)
			x[i] = *(const double *)((const char *)&blocks[i] + columns[k]);
		*(double *)((char *)pair + columns[k]) = bb_ab_pair_difference(x, done, &used);
	}
	/* The last column was `d`, so `used` is now the number of blocks whose `d` is known. */
	pair->blocks = (uint32_t)used;
	c->has_pair = true;
	if (ab->wrong[0])
		bb_pair_void(pair, ab->wrong);
	bb_hist_sort(&series_of(ab, c, BASE)->hist, &sorted);
	c->tick_ns = bb_tick(&sorted);
	bb_sorted_done(&sorted);
	return 0;
}

/* Writes to ret_why[size] why the samples of the programs as they are loaded now do not count, or
 * "" if they count. */
static void judge_sides(const struct ab *ab, char *ret_why, size_t size)
{
	ret_why[0] = '\0';
	for (enum label l = 0; l < N_LABELS && !ret_why[0]; l++) {
		const struct side *s = &ab->sides[l];
		const struct bb_drive_kind *kind = s->slot ? &s->slot->state->driver->kind : NULL;

		if (kind && kind->fires && !kind->stats_off && s->ran != s->fired)
			snprintf(ret_why, size, "%s: run_cnt rose by %llu, %llu events were fired",
				 label_names[l], (unsigned long long)s->ran,
				 (unsigned long long)s->fired);
	}
	for (enum label l = 0; l < N_LABELS && !ret_why[0]; l++) {
		const struct side *s = &ab->sides[l];
		char why[256];
		uint64_t misses;

		/* with same_load, base and head are in one slot */
		if (!s->slot || (l == HEAD && ab->opts->same_load))
			continue;
		bb_record__check(s->slot, &misses, why, sizeof(why));
		if (why[0])
			snprintf(ret_why, size, "%s: %s", label_names[l], why);
	}
}

static int measure_case(struct ab *ab, struct ab_case *c, uint32_t load, struct bb_err *err)
{
	int rc = bb_must_end_why();

	for (int l = 0; !rc && l < N_LABELS; l++) {
		const struct side *s = &ab->sides[l];

		if (c->planned[l] != BB_NO_CASE && s->is_new)
			bb_record__series(&ab->session.report->cases[c->case_of[l]], load,
					  s->prog->jit_mod64);
	}
	for (int l = 0; !rc && l < N_LABELS; l++)
		if (ab->sides[l].prog)
			rc = bb_test_prog__reset_maps(ab->sides[l].prog, err);
	return rc ? rc : measure_pair(ab, c, err);
}

static int measure_loads(struct ab *ab, size_t drive, uint32_t load, struct bb_err *err)
{
	char why[300] = "";
	int rc = 0;

	for (int l = 0; !rc && l < N_LABELS; l++) {
		struct side *s = &ab->sides[l];

		s->warm = false;
		s->fired = s->ran = 0;
		if (!s->prog)
			continue;
		if (l == HEAD && ab->opts->same_load)
			s->slot = ab->sides[BASE].slot;
		else
			rc = bb_record__attach(ab->session.drives[drive].state, s->prog, &s->slot,
					       err);
	}
	for (size_t i = 0; i < ab->n_cases; i++)
		ab->cases[i].has_pair = false;
	for (size_t i = 0; !rc && i < ab->n_cases; i++)
		if (ab->cases[i].active && ab->cases[i].drive == drive)
			rc = measure_case(ab, &ab->cases[i], load, err);
	bool is_late = rc == -ETIME;
	/* After -ETIME, the samples that were taken are still checked. The end returns -ETIME. */
	rc = is_late ? 0 : rc;
	if (!rc)
		judge_sides(ab, why, sizeof(why));
	for (size_t i = 0; !rc && why[0] && i < ab->n_cases; i++) {
		const struct ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->session.report->comparisons[c->comparison];

		if (!c->has_pair)
			continue;
		bb_pair_void(&k->pairs[k->n_pairs - 1], why);
		for (enum label l = 0; l < N_LABELS; l++)
			if (c->planned[l] != BB_NO_CASE)
				bb_record__void(series_of(ab, c, l), "%s", why);
	}
	for (int l = 0; l < N_LABELS; l++) {
		if (!(l == HEAD && ab->opts->same_load))
			bb_driver__detach(ab->sides[l].slot);
		ab->sides[l].slot = NULL;
	}
	return rc || !is_late ? rc : -ETIME;
}

/* Loads both programs and measures a pair for every undecided comparison of the drive. If the JIT
 * addresses of the two programs differ modulo 64, also measures a matched pair: picks one program
 * at random, and loads it again until its address modulo 64 equals the other program's. */
static int run_pair(struct ab *ab, size_t drive, uint32_t pair, struct bb_err *err)
{
	struct bb_rng *rng = &ab->session.rng;
	enum label moved = bb_rng_below(rng, 2) ? HEAD : BASE,
		   first = bb_rng_below(rng, 2) ? HEAD : BASE, order[] = {first, !first, FLOOR};
	int mod64, rc = 0;

	for (int i = 0; !rc && i < N_LABELS; i++) {
		struct side *s = &ab->sides[order[i]];

		s->is_new = true;
		if (s->prog && !(order[i] == HEAD && ab->opts->same_load))
			rc = bb_test_prog__load(s->prog, rng, BB_ANYWHERE, 1, err);
	}
	if (!rc)
		rc = measure_loads(ab, drive, 2 * pair, err);
	mod64 = ab->sides[!moved].prog->jit_mod64;
	if (rc || ab->opts->same_load || mod64 < 0 || ab->sides[moved].prog->jit_mod64 == mod64)
		return rc;
	rc = bb_test_prog__load(ab->sides[moved].prog, rng, bb_place(mod64), MATCH_TRIES, err);
	if (rc == -EAGAIN)
		return 0; /* no load got the wanted address, so there is no matched pair */
	for (int l = 0; l < N_LABELS; l++)
		ab->sides[l].is_new = l == (int)moved;
	return rc ? rc : measure_loads(ab, drive, 2 * pair + 1, err);
}

/* Judges the drive's comparisons, and deactivates those that get a verdict. Divides alpha by the
 * number of comparisons (Bonferroni). The final report uses Holm's correction. That correction is
 * never stricter than Bonferroni's, so a verdict given here still holds in the report. */
static void judge_drive(struct ab *ab, size_t drive)
{
	size_t n_family = ab->opts->n_family > ab->n_cases ? ab->opts->n_family : ab->n_cases;

	ab->is_open = ab->is_bare = false;
	for (size_t i = 0; i < ab->n_cases; i++) {
		struct ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->session.report->comparisons[c->comparison];

		if (!c->active || c->drive != drive)
			continue;
		bb_comparison__judge(k, k->alpha / (double)n_family);
		c->active = k->verdict == BB_VERDICT_INCONCLUSIVE;
		ab->is_open |= c->active;
		ab->is_bare |= c->active && isnan(k->ratio.lo);
	}
}

/* Stores how much time each undecided comparison had. If a comparison got no pair in time, adds a
 * skip with the reason to the report. */
static void note_undecided(struct ab *ab, size_t drive)
{
	const struct bb_run_opts *run = &ab->opts->run;

	for (size_t i = 0; i < ab->n_cases; i++) {
		const struct ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->session.report->comparisons[c->comparison];
		char why[200];

		if (!c->active || c->drive != drive)
			continue;
		k->budget_s = fmax(run->budget_s, bb_seconds_since(ab->began_ns));
		if (!ab->is_cut && !bb_deadline_has_passed)
			continue;
		for (int l = 0; l < N_LABELS; l++)
			if (c->planned[l] != BB_NO_CASE)
				bb_case__drop_empty_series(
					&ab->session.report->cases[c->case_of[l]]);
		snprintf(why, sizeof(why),
			 "no pair of loads was measured within the budget of %g s; %s gives more",
			 run->budget_s, bb_run_opts__budget_option(run));
		if (!k->n_pairs)
			bb_report__add_skip(ab->session.report, k->name, why);
	}
}

/* Measures pairs until all comparisons of the drive have verdicts or `budget_s` is used up. While a
 * comparison has no interval yet, `limit_s` applies instead of `budget_s`. 0 means no limit. */
static int run_drive(struct ab *ab, size_t drive, double budget_s, double limit_s,
		     struct bb_err *err)
{
	const struct bb_ab_opts *o = ab->opts;
	const struct bb_progress *p = o->run.progress;
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline deadline;
	size_t n_active = BB_SUM(ab->cases, ab->n_cases, it->active && it->drive == drive);
	uint32_t pair = 0;
	int rc = bb_session__stats_for(&ab->session, drive, err);

	ab->is_cut = false;
	ab->is_open = ab->is_bare = true;
	ab->pair_s = budget_s > 0 ? budget_s / LEAST_PAIRS / fmax((double)n_active, 1) : 0;
	bb_deadline__begin(&deadline, limit_s);
	for (; !rc && ab->is_open && !bb_must_end() && (!o->max_pairs || pair < o->max_pairs);
	     pair++) {
		double elapsed_s = bb_seconds_since(began_ns);

		if (pair && budget_s > 0 &&
		    elapsed_s + elapsed_s / pair > (ab->is_bare ? limit_s : budget_s))
			break;
		if (p && o->run.budget_s > 0)
			p->update(p->arg, bb_seconds_since(ab->began_ns), o->run.budget_s,
				  "at the latest; a verdict ends it");
		rc = run_pair(ab, drive, pair, err);
		if (rc == -ETIME)
			rc = 0;
		if (!rc)
			judge_drive(ab, drive);
	}
	if (!rc && bb_stop_signal)
		rc = -EINTR;
	if (!rc && (!o->max_pairs || pair < o->max_pairs))
		note_undecided(ab, drive);
	bb_deadline__end(&deadline);
	return rc;
}

static struct bb_test_prog *prog_of(struct ab *ab, size_t planned)
{
	struct bb_session *s = &ab->session;

	return planned == BB_NO_CASE ? NULL
				     : &s->progs[bb_session__variant(s, &s->plan->cases[planned])];
}

/* Returns a drive's share of the time left until `total_s`, s. 0 means no limit. */
static double share_of(const struct ab *ab, double total_s, size_t drives_left)
{
	return total_s > 0
		       ? fmax(total_s - bb_seconds_since(ab->began_ns), 1e-9) / (double)drives_left
		       : 0;
}

/* Measures the drives one after another, so that a slow drive does not delay the verdict of a fast
 * one. Time that one drive leaves is divided among the later drives. If a drive's share of the
 * budget is too short for any interval, the drive also gets a share of `patience_s`. Drives that
 * sample for a fixed time get no such extra share, because a slow machine does not make them
 * slower. */
static int run_drives(struct ab *ab, struct bb_err *err)
{
	size_t n = ab->session.plan->scenario->n_drives, left = 0;
	double budget_s = ab->opts->run.budget_s;
	int rc = 0;

	for (size_t d = 0; d < n; d++)
		left += BB_ANY(ab->cases, ab->n_cases, it->drive == d);
	for (size_t d = 0; !rc && d < n; d++) {
		/* any comparison of the drive, because all of them have the same floor */
		const struct ab_case *c = BB_FIND(ab->cases, ab->n_cases, it->drive == d);
		double share_s, limit_s;

		if (!c)
			continue;
		share_s = share_of(ab, budget_s, left);
		limit_s = planned_of(ab, c)->seconds > 0
				  ? share_s
				  : share_of(ab, budget_s + ab->opts->patience_s, left);
		ab->sides[FLOOR].prog = prog_of(ab, c->planned[FLOOR]);
		rc = run_drive(ab, d, share_s, limit_s, err);
		left--;
	}
	return rc;
}

/* Adds a comparison of two cases of the plan. The comparison has the floor of the case `base`. It
 * has no floor if `head` is that floor, or if that floor cannot be measured. */
static void add_case(struct ab *ab, size_t base, size_t head)
{
	const struct bb_plan *plan = ab->session.plan;
	struct ab_case *c = &ab->cases[ab->n_cases];
	size_t floor = plan->cases[base].floor;
	char *second = NULL;

	if (floor == head ||
	    (floor != BB_NO_CASE && !bb_session__can(&ab->session, &plan->cases[floor])))
		floor = BB_NO_CASE;
	*c = (struct ab_case){.drive = bb_session__drive(&ab->session, &plan->cases[base]),
			      .planned = {base, head, floor},
			      .tick_ns = NAN,
			      .active = true};
	/* If a program is compared with itself, its two cases need different names. */
	if (head == base)
		second = bb_asprintf("%s (head)", ab->opts->head);
	for (int l = 0; l < N_LABELS; l++) {
		size_t planned = c->planned[l];

		if (planned == BB_NO_CASE)
			continue;
		bb_record__case(ab->session.report, plan, &plan->cases[planned],
				l == HEAD ? second : NULL, &c->case_of[l]);
		bb_record__fired_by(&ab->session.report->cases[c->case_of[l]],
				    ab->session.drives[c->drive].driver, &plan->cases[planned],
				    prog_of(ab, planned));
	}
	free(second);
	if (floor != BB_NO_CASE)
		for (int l = BASE; l <= HEAD; l++)
			ab->session.report->cases[c->case_of[l]].floor = c->case_of[FLOOR];
	ab->n_cases++;
	struct bb_comparison *k = BB_ADD(bb_comparison_record, ab->session.report, comparisons);
	c->comparison = ab->session.report->n_comparisons - 1;
	k->name = bb_asprintf("%s/%s", plan->scenario->name,
			      bb_plan_case__below_variant(planned_of(ab, c)));
	k->base = bb_strdup(ab->opts->base);
	k->head = bb_strdup(ab->opts->head);
	k->threshold = ab->opts->threshold;
	k->alpha = ab->opts->alpha;
	k->injected = ab->opts->inject;
}

static struct bb_test_prog *find_prog(struct ab *ab, const char *variant)
{
	const struct bb_scenario *sc = ab->session.plan->scenario;
	const struct bb_variant_spec *v = variant ? bb_scenario__variant(sc, variant) : NULL;

	return v && ab->session.usable[v - sc->variants] ? &ab->session.progs[v - sc->variants]
							 : NULL;
}

static int open_cases(struct ab *ab, struct bb_err *err)
{
	const struct bb_plan *plan = ab->session.plan;
	const struct bb_ab_opts *o = ab->opts;
	struct bb_test_prog *base = find_prog(ab, o->base), *head = find_prog(ab, o->head);
	int rc = 0;

	if (!base || !head)
		return bb_fail(err, -ENOTSUP, "'%s' and '%s' cannot both be loaded on this machine",
			       o->base, o->head);
	/* to compare a program with itself, opens it a second time */
	if (base == head && !o->same_load) {
		char *path = base->target ? bb_object_path(plan->scenario, base->spec,
							   o->run.driver.object_dir)
					  : NULL;

		head = &ab->second;
		rc = bb_test_prog__open(base->spec, path, head, err);
		head->in_place = base->in_place;
		free(path);
	}
	ab->sides[BASE].prog = base;
	ab->sides[HEAD].prog = head;
	if (!rc && head != base && base->target && head->target)
		bb_target__borrow_maps(head->target, base->target);
	ab->cases = bb_calloc(plan->n_cases, sizeof(*ab->cases));
	for (size_t i = 0; !rc && i < plan->n_cases; i++) {
		const struct bb_plan_case *c = &plan->cases[i], *h;

		if (strcmp(c->variant->name, o->base) || !bb_session__can_time(&ab->session, c))
			continue;
		h = BB_FIND(plan->cases, plan->n_cases,
			    it->drive == c->drive && it->driver_param == c->driver_param &&
				    !strcmp(it->variant->name, o->head));
		if (h && bb_session__can(&ab->session, h))
			add_case(ab, i, (size_t)(h - plan->cases));
	}
	if (!rc && !ab->n_cases)
		rc = bb_fail(err, -ENOTSUP,
			     "no drive of '%s' drives both '%s' and '%s' on this machine",
			     plan->scenario->name, o->base, o->head);
	return rc;
}

/* Refuses live programs (loaded by others), because they cannot be loaded again for each pair.
 * Refuses drives with emptied caches if a verdict needs more time than the budget. */
static int check_plan(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_err *err)
{
	uint32_t max = opts->max_pairs, pairs = max && max < LEAST_PAIRS ? max : LEAST_PAIRS;
	const char *name = NULL;
	double need_s = 0;
	size_t n = 0;

	for (size_t i = 0; i < plan->n_cases; i++) {
		const struct bb_variant_spec *v = plan->cases[i].variant;
		const struct bb_drive_spec *d = plan->cases[i].drive;
		const struct bb_pace *pace = bb_drive_pace(d);

		if (bb_variant_is_live(v))
			return bb_fail(err, -EINVAL,
				       "variant '%s' is a live program, and compare loads both "
				       "programs again and again: give it objects, or compare two "
				       "stored runs",
				       v->name);
		if (d->caches != BB_CACHES_COLD || strcmp(v->name, opts->base))
			continue;
		name = bb_drive_name(d);
		need_s += pace->sample_s * (4 + 1) * pace->pair_turn *
			  (BLOCKS_MATCHED + BLOCKS_UNMATCHED) * pairs;
		n++;
	}
	if (opts->run.budget_s <= 0 || need_s <= opts->run.budget_s)
		return 0;
	return bb_fail(err, -EINVAL,
		       "%zu cases with emptied caches take about %.0f s for %u pairs of loads, "
		       "which is more than the budget; --budget %.0f allows it, or leave the drive "
		       "%s out",
		       n, need_s, pairs, ceil(need_s), name);
}

static int note_executed(struct ab *ab, struct bb_err *err)
{
	size_t n = ab->session.plan->n_cases, *case_of = bb_calloc(n, sizeof(*case_of));
	struct bb_test_prog *head = ab->sides[HEAD].prog;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		case_of[i] = SIZE_MAX;
	for (size_t i = 0; i < ab->n_cases; i++)
		for (int l = 0; l < N_LABELS; l++)
			if (ab->cases[i].planned[l] != BB_NO_CASE)
				case_of[ab->cases[i].planned[l]] = ab->cases[i].case_of[l];
	/* bb_target__borrow_maps() has unloaded head, so head is loaded again, with base's maps. */
	if (head != ab->sides[BASE].prog && head != &ab->second && head->target)
		rc = bb_test_prog__load(head, &ab->session.rng, BB_ANYWHERE, 1, err);
	if (!rc)
		rc = bb_note_executed(&ab->session, case_of);
	free(case_of);
	return rc;
}

static int run(struct ab *ab, struct bb_err *err)
{
	/* Count instructions before base and head share maps, because entries that one program
	 * stores may change the count of the other. */
	int rc = ab->opts->count ? bb_count_all(&ab->session, 0.25, err) : 0;

	if (!rc) {
		rc = open_cases(ab, err);
		/* Nothing was measured yet, so the report is not marked as incomplete. */
		if (rc)
			return rc;
	}
	if (!rc && ab->opts->executed)
		rc = note_executed(ab, err);
	if (!rc)
		rc = run_drives(ab, err);
	return rc ? bb_record__incomplete(ab->session.report, rc, err) : 0;
}

size_t bb_ab_n_comparisons(const struct bb_plan *plan, const char *base)
{
	return BB_SUM(plan->cases, plan->n_cases,
		      !strcmp(it->variant->name, base) && !it->drive->kind->counts);
}

int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err)
{
	struct bb_deadline budget;
	int rc = check_plan(plan, opts, err);

	if (rc)
		return rc;
	struct ab *ab = bb_calloc(1, sizeof(*ab));
	ab->opts = opts;
	ab->began_ns = bb_now_ns();
	bb_deadline__begin(&budget,
			   opts->run.budget_s > 0 ? opts->run.budget_s + opts->patience_s : 0);
	rc = bb_session__open(plan, &opts->run, report, &ab->session, err);
	if (!rc)
		rc = run(ab, err);
	else if (rc == -EINTR)
		bb_record__incomplete(report, rc, err);
	bb_deadline__end(&budget);
	/* Judge also after a signal or an error, because verdicts are valid after any pair. */
	bb_comparisons_judge(report->comparisons, report->n_comparisons);
	bb_test_prog__close(&ab->second);
	free(ab->cases);
	bb_session__close(&ab->session);
	free(ab);
	return rc;
}
