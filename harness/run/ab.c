/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/ab.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/stop.h"
#include "drivers/cold.h"
#include "run/record.h"
#include "run/session.h"
#include "stats/block.h"
#include "stats/estimate.h"
#include "stats/quantile.h"

#define RUN_SAMPLES 16u		/* of one label before the other has its turn */
#define RUN_SAMPLES_COLD 4u	/* half a millisecond each, or more, for the emptying of caches */
#define RUN_SAMPLES_SLOPE 4u	/* each is a line through ten calls */
#define MAX_S_INSITU 0.25	/* of a run whose rate nobody knows */
#define RUN_SAMPLES_INSITU 8u	/* at 100 Hz these take 80 ms */
#define BLOCKS_MATCHED 8u
#define BLOCKS_UNMATCHED 4u
#define BLOCKS_INSITU 2u
#define LEAST_PAIRS 7u		/* for a verdict, see stats/sequential.h */
#define WARMUP_FIRST 100u
#define WARMUP_RUN 4u
#define MATCH_TRIES 400u	/* about 13 are needed: the JIT places in steps of 4 bytes at the least */

enum label { BASE, HEAD, FLOOR, N_LABELS };
#define ALL_LABELS (1u << BASE | 1u << HEAD | 1u << FLOOR)

/* Events fired and runs counted, both with the warm-up. */
struct tally {
	uint64_t fired, ran;
};

/* One comparison in progress: a drive at one parameter. */
struct contest {
	size_t cell[N_LABELS];		/* BB_NO_CELL: no floor */
	size_t case_of[N_LABELS];
	size_t comparison;		/* index in the report */
	double tick_ns;
	bool active;
};

struct ab {
	struct bb_session session;
	const struct bb_ab_opts *opts;
	struct bb_report *report;
	struct bb_subject *subject[N_LABELS];	/* FLOOR: of the drive in progress; may be NULL */
	struct bb_subject second;	/* base once more, for A/A: head as a load of its own */
	struct contest *contests;
	size_t n_contests;
	void *slot[N_LABELS];		/* of the drive in progress */
	bool warm[N_LABELS];
	struct tally tally[N_LABELS];	/* of the drive's part of the round in progress */
	uint64_t ns[N_LABELS][2 * RUN_SAMPLES];
	double scratch[4 * RUN_SAMPLES];
	char wrong[300];		/* what a program of the pair in progress did that it should not; empty: nothing */
	uint64_t began_ns;
};

/* A self-test's slowdown: every sample times 1 + share, rounded up or down at random so that the mean is exact. */
static void inject(struct bb_rng *rng, double share, struct bb_batch *b)
{
	b->run_time_ns = 0;
	for (size_t i = 0; i < b->n; i++) {
		double ns = (double)b->ns[i] * (1 + share);

		b->ns[i] = (uint64_t)(ns + bb_rng_double(rng));
		b->run_time_ns += b->ns[i];
	}
}

/* The series that a label's samples go to: the last one of its case. */
static struct bb_series *series_of(struct ab *ab, const struct contest *c, enum label label)
{
	struct bb_case *k = &ab->report->cases[c->case_of[label]];

	return &k->series[k->n_series - 1];
}

static const struct bb_open_drive *drive_of(const struct ab *ab, const struct contest *c)
{
	return &ab->session.drives[bb_session__drive(&ab->session, &ab->session.plan->cells[c->cell[BASE]])];
}

static const char *label_name(enum label label)
{
	static const char *const names[N_LABELS] = {"base", "head", "the floor"};

	return names[label];
}

/* One run of one label: samples to ns[], their number to *ret_n. */
static int measure_run(struct ab *ab, const struct contest *c, enum label label, uint64_t *ns, size_t *ret_n,
		       struct bb_err *err)
{
	const struct bb_cell *cell = &ab->session.plan->cells[c->cell[label]];
	const struct bb_open_drive *d = drive_of(ab, c);
	struct bb_batch b = {.ns = ns, .drain_always = cell->drive->consumer == BB_CONSUMER_CAUGHT_UP};
	int rc;

	if (!(cell->seconds > 0)) {
		bool cold = cell->drive->caches == BB_CACHES_COLD;

		b.want = d->driver->stats_off ? RUN_SAMPLES_SLOPE : cold ? RUN_SAMPLES_COLD : RUN_SAMPLES;
		b.warmup = cold ? 0 : ab->warm[label] ? WARMUP_RUN : WARMUP_FIRST;
	} else {
		bool call = !strcmp(cell->drive->with, "call");

		/* One call each: a block of many fast ones and few slow ones would censor all of the slow. */
		b.want = call ? 1 : RUN_SAMPLES_INSITU;
		b.max_s = cell->param_value ? 4.0 * RUN_SAMPLES_INSITU / cell->param_value + 0.05 : MAX_S_INSITU;
	}
	ab->warm[label] = true;
	rc = bb_record__measure(d->driver, d->state, ab->slot[label], ab->subject[label], cell->driver_param, &b,
				series_of(ab, c, label), err);
	ab->tally[label].fired += b.fired + b.warmup;
	ab->tally[label].ran += b.run_cnt + b.warmup;
	if (b.void_why[0] && !ab->wrong[0])
		snprintf(ab->wrong, sizeof(ab->wrong), "%s: %s", label_name(label), b.void_why);
	if (!rc && label == HEAD && ab->opts->inject != 0)
		inject(&ab->session.rng, ab->opts->inject, &b);
	if (!rc && ab->opts->trace && label != FLOOR && bb_ab_trace__add(ab->opts->trace, label == HEAD, &b))
		rc = bb_fail_nomem(err);
	*ret_n = b.n;
	return rc;
}

/*
 * One block's observation, in the form of a pair's: ABBA or BAAB by a coin, then the floor. What cannot be said is NAN.
 */
static int measure_block(struct ab *ab, const struct contest *c, struct bb_pair *ret_block, struct bb_err *err)
{
	enum label first = bb_rng_below(&ab->session.rng, 2) ? HEAD : BASE, order[4] = {first, !first, !first, first};
	struct bb_pair o = {.d = NAN, .d_net = NAN, .base_ns = NAN, .head_ns = NAN, .floor_ns = NAN};
	const struct bb_case *k = &ab->report->cases[c->case_of[BASE]];
	size_t n[N_LABELS] = {0};
	struct bb_block block;
	int rc = 0;

	for (size_t i = 0; !rc && i < 4; i++) {
		size_t got = 0;

		rc = measure_run(ab, c, order[i], ab->ns[order[i]] + n[order[i]], &got, err);
		n[order[i]] += got;
	}
	if (!rc && c->cell[FLOOR] != BB_NO_CELL)
		rc = measure_run(ab, c, FLOOR, ab->ns[FLOOR], &n[FLOOR], err);
	if (rc)
		return rc;
	if (!bb_block_difference(ab->ns[FLOOR], n[FLOOR], ab->ns[FLOOR], n[FLOOR], c->tick_ns, ab->scratch, &block))
		o.floor_ns = bb_case__ns(k, block.mean_a_ns);
	if (!bb_block_difference(ab->ns[BASE], n[BASE], ab->ns[HEAD], n[HEAD], c->tick_ns, ab->scratch, &block)) {
		o.d = block.d;
		o.base_ns = bb_case__ns(k, block.mean_a_ns);
		o.head_ns = bb_case__ns(k, block.mean_b_ns);
	}
	o.shift_ns = o.head_ns - o.base_ns;
	if (o.base_ns > o.floor_ns && o.head_ns > o.floor_ns)
		o.d_net = log((o.head_ns - o.floor_ns) / (o.base_ns - o.floor_ns));
	*ret_block = o;
	return 0;
}

/* Every estimate of a pair is the median of its blocks'. */
static void summarise_blocks(const struct bb_pair *blocks, size_t n, struct bb_pair *pair)
{
	static const size_t columns[] = {
		offsetof(struct bb_pair, d_net), offsetof(struct bb_pair, shift_ns), offsetof(struct bb_pair, base_ns),
		offsetof(struct bb_pair, head_ns), offsetof(struct bb_pair, floor_ns), offsetof(struct bb_pair, d),
	};
	double x[BLOCKS_MATCHED];
	size_t used = 0;

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		for (size_t i = 0; i < n; i++)
			x[i] = *(const double *)((const char *)&blocks[i] + columns[k]);
		*(double *)((char *)pair + columns[k]) = bb_pair_difference(x, n, &used);
	}
	pair->blocks = (uint32_t)used;	/* those of d, the last */
}

/* The clock's tick, from what this contest has sampled so far. */
static double find_tick(struct ab *ab, const struct contest *c)
{
	struct bb_sorted sorted;
	double tick_ns;

	if (bb_hist_sort(&series_of(ab, c, BASE)->hist, &sorted))
		return NAN;
	tick_ns = bb_tick(&sorted);
	bb_sorted_done(&sorted);
	return tick_ns;
}

static int measure_pair(struct ab *ab, struct contest *c, struct bb_err *err)
{
	bool matched = ab->subject[BASE]->jit_mod64 >= 0 && ab->subject[BASE]->jit_mod64 == ab->subject[HEAD]->jit_mod64;
	size_t n = ab->session.plan->cells[c->cell[BASE]].seconds > 0 ? BLOCKS_INSITU : matched ? BLOCKS_MATCHED : BLOCKS_UNMATCHED;
	struct bb_pair blocks[BLOCKS_MATCHED];
	struct bb_pair *pair;
	int rc = 0;

	ab->wrong[0] = '\0';
	for (size_t i = 0; !rc && i < n; i++)
		rc = measure_block(ab, c, &blocks[i], err);
	if (rc)
		return rc;
	pair = bb_comparison__add_pair(&ab->report->comparisons[c->comparison]);
	if (!pair)
		return bb_fail_nomem(err);
	pair->matched = matched;
	pair->base_mod64 = ab->subject[BASE]->jit_mod64;
	pair->head_mod64 = ab->subject[HEAD]->jit_mod64;
	summarise_blocks(blocks, n, pair);
	if (ab->wrong[0] && bb_pair_void(pair, ab->wrong))
		return bb_fail_nomem(err);
	c->tick_ns = find_tick(ab, c);
	return 0;
}

/* Does a drive's part of a round count? ret_why stays empty if it does. */
static void judge_labels(struct ab *ab, size_t drive, const struct bb_prog_stats *before, char *ret_why, size_t size)
{
	const struct bb_driver *driver = ab->session.drives[drive].driver;
	bool same_load = ab->opts->same_load;

	ret_why[0] = '\0';
	for (enum label l = 0; l < N_LABELS && !ret_why[0]; l++) {
		const struct tally *t = &ab->tally[l];
		char why[256] = "";
		uint64_t misses;

		if (!ab->subject[l])
			continue;
		if (driver->fires && !driver->stats_off && t->ran != t->fired)
			snprintf(why, sizeof(why), "run_cnt rose by %llu, %llu events were fired",
				 (unsigned long long)t->ran, (unsigned long long)t->fired);
		else if (!(l == HEAD && same_load))	/* one load then counts for both */
			bb_record__check(driver, ab->subject[l], &before[l],
					 t->fired + (l == BASE && same_load ? ab->tally[HEAD].fired : 0), &misses, why,
					 sizeof(why));
		if (why[0])
			snprintf(ret_why, size, "%s: %s", label_name(l), why);
	}
}

static void detach(struct ab *ab, size_t drive)
{
	const struct bb_open_drive *d = &ab->session.drives[drive];

	for (int l = 0; l < N_LABELS; l++)
		if (ab->slot[l] && !(l == HEAD && ab->slot[HEAD] == ab->slot[BASE]))
			d->driver->detach(d->state, ab->slot[l]);
	memset(ab->slot, 0, sizeof(ab->slot));
}

static int attach(struct ab *ab, size_t drive, struct bb_prog_stats *before, struct bb_err *err)
{
	const struct bb_open_drive *d = &ab->session.drives[drive];
	int rc = 0;

	for (int l = 0; !rc && l < N_LABELS; l++) {
		ab->warm[l] = false;
		if (!ab->subject[l])
			continue;
		if (l == HEAD && ab->opts->same_load) {
			ab->slot[HEAD] = ab->slot[BASE];
			continue;
		}
		rc = d->driver->attach(d->state, ab->subject[l], &ab->slot[l], err);
		if (!rc && ab->subject[l]->target)
			rc = bb_stats_reader__agreed(bb_target__reader(ab->subject[l]->target), &before[l], err);
	}
	return rc;
}

/* New series for what is about to be measured; what was not loaded anew goes on with the series it has. */
static int begin_series(struct ab *ab, struct contest *c, uint32_t load, unsigned int loaded, struct bb_err *err)
{
	for (int l = 0; l < N_LABELS; l++) {
		if (c->cell[l] == BB_NO_CELL || !(loaded & 1u << l))
			continue;
		if (!bb_record__series(&ab->report->cases[c->case_of[l]], load, ab->subject[l]->jit_mod64))
			return bb_fail_nomem(err);
	}
	return 0;
}

/* A drive's active contests: the last pair and series of each are void, because. */
static int make_void(struct ab *ab, size_t drive, const char *why, struct bb_err *err)
{
	for (size_t i = 0; i < ab->n_contests; i++) {
		struct contest *c = &ab->contests[i];
		struct bb_comparison *k = &ab->report->comparisons[c->comparison];

		if (!c->active || drive_of(ab, c) != &ab->session.drives[drive])
			continue;
		if (bb_pair_void(&k->pairs[k->n_pairs - 1], why))
			return bb_fail_nomem(err);
		for (int l = 0; l < N_LABELS; l++)
			if (c->cell[l] != BB_NO_CELL && bb_record__void(series_of(ab, c, (enum label)l), "%s", why))
				return bb_fail_nomem(err);
	}
	return 0;
}

/* Every active contest of a drive once, with the loads there are; bits of the labels that were `loaded` anew. */
static int measure_loads(struct ab *ab, size_t drive, uint32_t load, unsigned int loaded, struct bb_err *err)
{
	struct bb_prog_stats before[N_LABELS] = {0};
	char why[300] = "";
	int rc;

	memset(ab->tally, 0, sizeof(ab->tally));
	rc = attach(ab, drive, before, err);
	for (size_t i = 0; !rc && i < ab->n_contests; i++) {
		struct contest *c = &ab->contests[i];

		if (!c->active || drive_of(ab, c) != &ab->session.drives[drive])
			continue;
		rc = begin_series(ab, c, load, loaded, err);
		for (int l = 0; !rc && l < N_LABELS; l++)
			if (ab->subject[l])
				rc = bb_subject__reset_maps(ab->subject[l], err);
		if (!rc)
			rc = measure_pair(ab, c, err);
	}
	if (!rc)
		judge_labels(ab, drive, before, why, sizeof(why));
	if (!rc && why[0])
		rc = make_void(ab, drive, why, err);
	detach(ab, drive);
	return rc;
}

/* New loads of everything, base and head in random order. */
static int load_pair(struct ab *ab, struct bb_err *err)
{
	enum label first = bb_rng_below(&ab->session.rng, 2) ? HEAD : BASE, order[] = {first, !first, FLOOR};
	int rc = 0;

	for (int i = 0; !rc && i < N_LABELS; i++)
		if (ab->subject[order[i]] && !(order[i] == HEAD && ab->opts->same_load))
			rc = bb_subject__load(ab->subject[order[i]], &ab->session.rng, -1, 1, err);
	return rc;
}

/* One load pair: as the JIT places it, and then matched (which it may be at once), by moving either to the other. */
static int run_pair(struct ab *ab, size_t drive, uint32_t pair, struct bb_err *err)
{
	enum label moved = bb_rng_below(&ab->session.rng, 2) ? HEAD : BASE, stays = moved == HEAD ? BASE : HEAD;
	int mod64, rc = load_pair(ab, err);

	if (!rc)
		rc = measure_loads(ab, drive, 2 * pair, ALL_LABELS, err);
	mod64 = ab->subject[stays]->jit_mod64;
	if (rc || ab->opts->same_load || mod64 < 0 || ab->subject[moved]->jit_mod64 == mod64)
		return rc;
	rc = bb_subject__load(ab->subject[moved], &ab->session.rng, mod64, MATCH_TRIES, err);
	if (rc == -EAGAIN)
		return 0;	/* this pair stays unmatched */
	return rc ? rc : measure_loads(ab, drive, 2 * pair + 1, 1u << moved, err);
}

/*
 * Look at a drive's contests after a pair: what has its verdict is done. The looks share alpha by Bonferroni, which is
 * Holm's first step: who stops here survives the correction at the end.
 */
static int look(struct ab *ab, size_t drive, bool *ret_any, struct bb_err *err)
{
	size_t n_family = ab->opts->n_family > ab->n_contests ? ab->opts->n_family : ab->n_contests;

	*ret_any = false;
	for (size_t i = 0; i < ab->n_contests; i++) {
		struct contest *c = &ab->contests[i];
		struct bb_comparison *k = &ab->report->comparisons[c->comparison];

		if (!c->active || drive_of(ab, c) != &ab->session.drives[drive])
			continue;
		if (bb_comparison__judge(k, k->alpha / (double)n_family))
			return bb_fail_nomem(err);
		c->active = k->verdict == BB_VERDICT_INCONCLUSIVE;
		*ret_any |= c->active;
	}
	return 0;
}

/* One drive, until its contests have their verdicts or `budget_s` (0: no limit) is used up. */
static int run_pairs(struct ab *ab, size_t drive, double budget_s, struct bb_err *err)
{
	const struct bb_progress *p = ab->opts->run.progress;
	uint64_t began_ns = bb_now_ns();
	int rc = bb_session__stats_for(&ab->session, drive, err);
	bool any = true;

	for (uint32_t pair = 0; !rc && any && (!ab->opts->max_pairs || pair < ab->opts->max_pairs); pair++) {
		double elapsed_s = bb_seconds_since(began_ns);

		if (pair && budget_s > 0 && elapsed_s + elapsed_s / pair > budget_s)
			break;
		if (p && ab->opts->run.budget_s > 0)
			p->update(p->arg, bb_seconds_since(ab->began_ns), ab->opts->run.budget_s,
				  "at the latest; a verdict ends it");
		rc = run_pair(ab, drive, pair, err);
		if (!rc && bb_stop_signal)
			rc = -EINTR;
		if (!rc)
			rc = look(ab, drive, &any, err);
	}
	return rc;
}

/* One of a drive's contests, all of which have the same floor; NULL: it has none. */
static const struct contest *contest_of(const struct ab *ab, size_t drive)
{
	for (size_t i = 0; i < ab->n_contests; i++)
		if (drive_of(ab, &ab->contests[i]) == &ab->session.drives[drive])
			return &ab->contests[i];
	return NULL;
}

static struct bb_subject *cell_subject(struct ab *ab, size_t cell)
{
	if (cell == BB_NO_CELL)
		return NULL;
	return &ab->session.subjects[bb_session__variant(&ab->session, &ab->session.plan->cells[cell])];
}

/* Drive by drive, so that a slow one does not hold up a fast one's verdict; what one leaves of its share, others have. */
static int run_drives(struct ab *ab, struct bb_err *err)
{
	size_t n = ab->session.plan->scenario->n_drives, left = 0;
	int rc = 0;

	for (size_t d = 0; d < n; d++)
		left += contest_of(ab, d) != NULL;
	for (size_t d = 0; !rc && d < n; d++) {
		double left_s = ab->opts->run.budget_s - bb_seconds_since(ab->began_ns);
		const struct contest *c = contest_of(ab, d);

		if (!c)
			continue;
		ab->subject[FLOOR] = cell_subject(ab, c->cell[FLOOR]);
		rc = run_pairs(ab, d, ab->opts->run.budget_s > 0 ? fmax(left_s, 1e-3) / (double)left : 0, err);
		left--;
	}
	return rc;
}

static size_t find_cell(const struct bb_plan *plan, const struct bb_cell *like, const char *variant)
{
	for (size_t i = 0; variant && i < plan->n_cells; i++) {
		const struct bb_cell *c = &plan->cells[i];

		if (c->drive == like->drive && c->driver_param == like->driver_param && !strcmp(c->variant->name, variant))
			return i;
	}
	return BB_NO_CELL;
}

static int add_comparison(struct ab *ab, struct contest *c, struct bb_err *err)
{
	const struct bb_cell *cell = &ab->session.plan->cells[c->cell[BASE]];
	struct bb_comparison *k = bb_report__add_comparison(ab->report);

	if (!k)
		return bb_fail_nomem(err);
	c->comparison = ab->report->n_comparisons - 1;
	if (asprintf(&k->name, "%s/%s", ab->session.plan->scenario->name, bb_cell_what(cell)) < 0)
		k->name = NULL;
	k->base = strdup(ab->opts->base);
	k->head = strdup(ab->opts->head);
	k->threshold = ab->opts->threshold;
	k->alpha = ab->opts->alpha;
	k->injected = ab->opts->inject;
	return k->name && k->base && k->head ? 0 : bb_fail_nomem(err);
}

/* The floor of a contest whose base and head are known; BB_NO_CELL when it is one of the two or cannot be measured. */
static size_t floor_cell(const struct ab *ab, const struct contest *c)
{
	size_t floor = ab->session.plan->cells[c->cell[BASE]].floor;

	if (floor == BB_NO_CELL || floor == c->cell[HEAD] || !bb_session__can(&ab->session, &ab->session.plan->cells[floor]))
		return BB_NO_CELL;
	return floor;
}

static int add_contest(struct ab *ab, size_t base_cell, size_t head_cell, struct bb_err *err)
{
	const struct bb_plan *plan = ab->session.plan;
	struct contest *c = &ab->contests[ab->n_contests];
	char *second = NULL;
	int rc = 0;

	*c = (struct contest){.tick_ns = NAN, .active = true};
	c->cell[BASE] = base_cell;
	c->cell[HEAD] = head_cell;
	c->cell[FLOOR] = floor_cell(ab, c);
	/* A program against itself is two cases, and no two of a run have one name. */
	if (c->cell[HEAD] == c->cell[BASE] && asprintf(&second, "%s (head)", ab->opts->head) < 0)
		return bb_fail_nomem(err);
	for (int l = 0; !rc && l < N_LABELS; l++)
		if (c->cell[l] != BB_NO_CELL)
			rc = bb_record__case(ab->report, plan, &plan->cells[c->cell[l]], l == HEAD ? second : NULL,
					     &c->case_of[l], err);
	free(second);
	if (rc)
		return rc;
	if (c->cell[FLOOR] != BB_NO_CELL)
		for (int l = BASE; l <= HEAD; l++)
			ab->report->cases[c->case_of[l]].floor = c->case_of[FLOOR];
	ab->n_contests++;
	return add_comparison(ab, c, err);
}

static struct bb_subject *session_subject(struct ab *ab, const char *variant)
{
	const struct bb_scenario *sc = ab->session.plan->scenario;

	for (size_t i = 0; variant && i < sc->n_variants; i++)
		if (!strcmp(sc->variants[i].name, variant) && ab->session.usable[i])
			return &ab->session.subjects[i];
	return NULL;
}

/* Base against itself needs a second subject: two loads of one program at the same time. */
static int open_second(struct ab *ab, struct bb_err *err)
{
	const struct bb_variant_spec *v = ab->subject[BASE]->spec;
	char *path = NULL;
	int rc;

	if (ab->subject[BASE]->target) {
		path = bb_object_path(ab->session.plan->scenario, v, ab->opts->run.object_dir);
		if (!path)
			return bb_fail_nomem(err);
	}
	rc = bb_subject__open(v, path, &ab->second, err);
	ab->second.in_place = ab->subject[BASE]->in_place;
	free(path);
	ab->subject[HEAD] = &ab->second;
	return rc;
}

static int open_contests(struct ab *ab, struct bb_err *err)
{
	const struct bb_plan *plan = ab->session.plan;
	int rc = 0;

	ab->subject[BASE] = session_subject(ab, ab->opts->base);
	ab->subject[HEAD] = session_subject(ab, ab->opts->head);
	if (!ab->subject[BASE] || !ab->subject[HEAD])
		return bb_fail(err, -ENOTSUP, "'%s' and '%s' cannot both be loaded on this machine", ab->opts->base,
			       ab->opts->head);
	if (ab->subject[BASE] == ab->subject[HEAD] && !ab->opts->same_load)
		rc = open_second(ab, err);
	if (!rc && ab->subject[HEAD] != ab->subject[BASE] && ab->subject[BASE]->target)
		bb_target__borrow_maps(ab->subject[HEAD]->target, ab->subject[BASE]->target);
	ab->contests = calloc(plan->n_cells, sizeof(*ab->contests));
	if (!rc && !ab->contests)
		rc = bb_fail_nomem(err);
	for (size_t i = 0; !rc && i < plan->n_cells; i++) {
		size_t head = find_cell(plan, &plan->cells[i], ab->opts->head);

		if (!strcmp(plan->cells[i].variant->name, ab->opts->base) && bb_session__can_time(&ab->session, &plan->cells[i]) &&
		    head != BB_NO_CELL && bb_session__can(&ab->session, &plan->cells[head]))
			rc = add_contest(ab, i, head, err);
	}
	if (!rc && !ab->n_contests)
		rc = bb_fail(err, -ENOTSUP, "no drive of '%s' drives both '%s' and '%s' on this machine",
			     plan->scenario->name, ab->opts->base, ab->opts->head);
	return rc;
}

/* Pairs are made of loads, and a live program has one. */
static int check_none_live(const struct bb_plan *plan, struct bb_err *err)
{
	for (size_t i = 0; i < plan->n_cells; i++)
		if (bb_variant_is_live(plan->cells[i].variant))
			return bb_fail(err, -EINVAL, "variant '%s' is loaded by somebody else; compare loads both programs again and "
				       "again: give it objects, or compare two stored runs", plan->cells[i].variant->name);
	return 0;
}

/* Emptying caches takes its time: what cannot come to a verdict within the budget is not begun. */
static int check_cold(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_err *err)
{
	uint32_t max = opts->max_pairs, pairs = max && max < LEAST_PAIRS ? max : LEAST_PAIRS;
	double samples = (4 + 1) * RUN_SAMPLES_COLD * (BLOCKS_MATCHED + BLOCKS_UNMATCHED), need_s;
	size_t n = 0;

	for (size_t i = 0; i < plan->n_cells; i++)
		n += plan->cells[i].drive->caches == BB_CACHES_COLD && !strcmp(plan->cells[i].variant->name, opts->base);
	need_s = BB_COLD_GUESS_S * samples * (double)n * pairs;
	if (opts->run.budget_s <= 0 || need_s <= opts->run.budget_s)
		return 0;
	return bb_fail(err, -EINVAL, "%zu cases with emptied caches take about %.0f s for %u pairs of loads, which is more than the "
		       "budget; --budget %.0f allows it, or leave the drive step" BB_COLD_SUFFIX " out", n, need_s, pairs,
		       ceil(need_s));
}

int bb_run_ab(const struct bb_plan *plan, const struct bb_ab_opts *opts, struct bb_report *report,
	      struct bb_err *err)
{
	struct ab *ab;
	int rc = check_none_live(plan, err);

	if (!rc)
		rc = check_cold(plan, opts, err);
	if (rc)
		return rc;
	ab = calloc(1, sizeof(*ab));
	if (!ab)
		return bb_fail_nomem(err);
	ab->opts = opts;
	ab->report = report;
	ab->began_ns = bb_now_ns();
	rc = bb_session__open(plan, &opts->run, report, &ab->session, err);
	if (rc) {
		free(ab);
		return rc;
	}
	rc = open_contests(ab, err);
	if (!rc) {
		rc = run_drives(ab, err);
		if (rc)
			rc = bb_record__incomplete(report, rc, err);
	}
	/* Valid at every look: what there is by the time of a signal or an error is judged as well. */
	if (bb_comparisons_judge(report->comparisons, report->n_comparisons) && !rc)
		rc = bb_fail_nomem(err);
	bb_subject__close(&ab->second);
	free(ab->contests);
	bb_session__close(&ab->session);
	free(ab);
	return rc;
}
