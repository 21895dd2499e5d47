/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/ab_pair.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "drivers/cold.h"
#include "run/record.h"
#include "stats/paired.h"
#include "stats/estimate.h"
#include "stats/quantile.h"

#define MAX_S_INSITU 0.25 /* of a turn whose rate nobody knows */
#define BLOCKS_MATCHED 8u
#define BLOCKS_UNMATCHED 4u
#define BLOCKS_INSITU 2u
/* Fast programs never take that long, even where others keep them from their CPU. */
#define RUN_LEAST_S 0.1
#define PAIR_LEAST_S 1.0
#define MATCH_TRIES                                                                                \
	400u /* about 13 are needed: the JIT places in steps of 4 bytes at the least               \
	      */

const struct bb_open_drive *bb_ab_case__drive(const struct bb_ab *ab, const struct bb_ab_case *c)
{
	return &ab->session.drives[bb_session__drive(
		&ab->session, &ab->session.plan->cases[c->planned[BB_LABEL_BASE]])];
}

/* A self-test's slowdown: every sample times 1 + share, rounded up or down at random so that the
 * mean is exact. */
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
static struct bb_series *series_of(struct bb_ab *ab, const struct bb_ab_case *c,
				   enum bb_label label)
{
	struct bb_case *k = &ab->report->cases[c->case_of[label]];

	return &k->series[k->n_series - 1];
}

static const char *label_name(enum bb_label label)
{
	static const char *const names[BB_N_LABELS] = {"base", "head", "the floor"};

	return names[label];
}

/* One run of one label: samples to ns[], their number to *ret_n. */
static int measure_run(struct bb_ab *ab, const struct bb_ab_case *c, enum bb_label label,
		       uint64_t *ns, size_t *ret_n, struct bb_err *err)
{
	const struct bb_plan_case *planned = &ab->session.plan->cases[c->planned[label]];
	const struct bb_open_drive *d = bb_ab_case__drive(ab, c);
	const struct bb_pace *pace = bb_drive_pace(planned->drive);
	struct bb_batch b = {.ns = ns,
			     .drain_each_run = planned->drive->step.consumer == BB_DRAIN_EACH_RUN};
	int rc;

	b.want = pace->pair_turn;
	if (!(planned->seconds > 0)) {
		b.warmup = ab->warm[label] ? pace->pair_warmup : pace->warmup_first;
		b.max_s = ab->pair_s > 0 ? RUN_LEAST_S : 0;
	} else {
		b.max_s = planned->param_value ? 4.0 * (double)b.want / planned->param_value + 0.05
					       : MAX_S_INSITU;
	}
	ab->warm[label] = true;
	rc = bb_record__measure(d->driver, d->state, ab->slot[label], ab->prog[label],
				planned->driver_param, &b, series_of(ab, c, label), err);
	ab->is_cut |= !(planned->seconds > 0) && b.fired < b.want;
	ab->tally[label].fired += b.fired + b.warmup;
	ab->tally[label].ran += b.run_cnt + b.warmup;
	if (b.void_why[0] && !ab->wrong[0])
		snprintf(ab->wrong, sizeof(ab->wrong), "%s: %s", label_name(label), b.void_why);
	if (!rc && label == BB_LABEL_HEAD && ab->opts->inject != 0)
		inject(&ab->session.rng, ab->opts->inject, &b);
	if (!rc && ab->opts->watch.batch && label != BB_LABEL_FLOOR &&
	    ab->opts->watch.batch(ab->opts->watch.arg, label == BB_LABEL_HEAD, &b))
		rc = bb_fail_nomem(err);
	*ret_n = b.n;
	return rc;
}

/*
 * One block's observation, in the form of a pair's: ABBA or BAAB by a coin, then the floor. What
 * cannot be said is NAN.
 */
static int measure_block(struct bb_ab *ab, const struct bb_ab_case *c, struct bb_pair *ret_block,
			 struct bb_err *err)
{
	enum bb_label first = bb_rng_below(&ab->session.rng, 2) ? BB_LABEL_HEAD : BB_LABEL_BASE,
		      order[4] = {first, !first, !first, first};
	struct bb_pair o = {.d = NAN,
			    .d_net = NAN,
			    .base_ns = NAN,
			    .head_ns = NAN,
			    .floor_ns = NAN};
	const struct bb_case *k = &ab->report->cases[c->case_of[BB_LABEL_BASE]];
	size_t n[BB_N_LABELS] = {0};
	struct bb_ab_block block;
	int rc = 0;

	for (size_t i = 0; !rc && i < 4; i++) {
		size_t got = 0;

		rc = measure_run(ab, c, order[i], ab->ns[order[i]] + n[order[i]], &got, err);
		n[order[i]] += got;
	}
	if (!rc && c->planned[BB_LABEL_FLOOR] != BB_NO_CASE)
		rc = measure_run(ab, c, BB_LABEL_FLOOR, ab->ns[BB_LABEL_FLOOR], &n[BB_LABEL_FLOOR],
				 err);
	if (rc)
		return rc;
	if (!bb_ab_block_difference(ab->ns[BB_LABEL_FLOOR], n[BB_LABEL_FLOOR],
				    ab->ns[BB_LABEL_FLOOR], n[BB_LABEL_FLOOR], c->tick_ns,
				    ab->scratch, &block))
		o.floor_ns = bb_case__ns(k, block.mean_a_ns);
	if (!bb_ab_block_difference(ab->ns[BB_LABEL_BASE], n[BB_LABEL_BASE], ab->ns[BB_LABEL_HEAD],
				    n[BB_LABEL_HEAD], c->tick_ns, ab->scratch, &block)) {
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
		offsetof(struct bb_pair, d_net),    offsetof(struct bb_pair, shift_ns),
		offsetof(struct bb_pair, base_ns),  offsetof(struct bb_pair, head_ns),
		offsetof(struct bb_pair, floor_ns), offsetof(struct bb_pair, d),
	};
	double x[BLOCKS_MATCHED];
	size_t used = 0;

	for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
		for (size_t i = 0; i < n; i++)
			x[i] = *(const double *)((const char *)&blocks[i] + columns[k]);
		*(double *)((char *)pair + columns[k]) = bb_ab_pair_difference(x, n, &used);
	}
	pair->blocks = (uint32_t)used; /* those of d, the last */
}

/* The clock's tick, from what this comparison has sampled so far. */
static double find_tick(struct bb_ab *ab, const struct bb_ab_case *c)
{
	struct bb_sorted sorted;
	double tick_ns;

	if (bb_hist_sort(&series_of(ab, c, BB_LABEL_BASE)->hist, &sorted))
		return NAN;
	tick_ns = bb_tick(&sorted);
	bb_sorted_done(&sorted);
	return tick_ns;
}

static int measure_pair(struct bb_ab *ab, struct bb_ab_case *c, struct bb_err *err)
{
	bool matched = ab->prog[BB_LABEL_BASE]->jit_mod64 >= 0 &&
		       ab->prog[BB_LABEL_BASE]->jit_mod64 == ab->prog[BB_LABEL_HEAD]->jit_mod64;
	bool by_time = ab->session.plan->cases[c->planned[BB_LABEL_BASE]].seconds > 0;
	size_t n = by_time ? BLOCKS_INSITU : matched ? BLOCKS_MATCHED : BLOCKS_UNMATCHED;
	struct bb_pair blocks[BLOCKS_MATCHED];
	uint64_t began_ns = bb_now_ns();
	struct bb_pair *pair;
	size_t done = 0;
	int rc = 0;

	ab->wrong[0] = '\0';
	while (!rc && done < n && !bb_must_end()) {
		rc = measure_block(ab, c, &blocks[done], err);
		done += !rc && !bb_must_end(); /* or it is not whole */
		if (ab->pair_s > 0 && !by_time &&
		    bb_seconds_since(began_ns) > fmax(ab->pair_s, PAIR_LEAST_S))
			break;
	}
	ab->is_cut |= done < n;
	if (rc || !done)
		return rc;
	pair = bb_comparison__add_pair(&ab->report->comparisons[c->comparison]);
	if (!pair)
		return bb_fail_nomem(err);
	pair->matched = matched;
	pair->base_mod64 = ab->prog[BB_LABEL_BASE]->jit_mod64;
	pair->head_mod64 = ab->prog[BB_LABEL_HEAD]->jit_mod64;
	summarise_blocks(blocks, done, pair);
	c->has_pair = true;
	if (ab->wrong[0] && bb_pair_void(pair, ab->wrong))
		return bb_fail_nomem(err);
	c->tick_ns = find_tick(ab, c);
	return 0;
}

/* Does a drive's part of a round count? ret_why stays empty if it does. */
static void judge_labels(struct bb_ab *ab, size_t drive, const struct bb_prog_stats *before,
			 char *ret_why, size_t size)
{
	const struct bb_driver *driver = ab->session.drives[drive].driver;
	bool same_load = ab->opts->same_load;

	ret_why[0] = '\0';
	for (enum bb_label l = 0; l < BB_N_LABELS && !ret_why[0]; l++) {
		const struct bb_run_count *t = &ab->tally[l];
		char why[256] = "";
		uint64_t misses;

		if (!ab->prog[l])
			continue;
		if (driver->kind.fires && !driver->kind.stats_off && t->ran != t->fired)
			snprintf(why, sizeof(why), "run_cnt rose by %llu, %llu events were fired",
				 (unsigned long long)t->ran, (unsigned long long)t->fired);
		else if (!(l == BB_LABEL_HEAD && same_load)) /* one load then counts for both */
			bb_record__check(driver, ab->prog[l], &before[l],
					 t->fired + (l == BB_LABEL_BASE && same_load
							     ? ab->tally[BB_LABEL_HEAD].fired
							     : 0),
					 &misses, why, sizeof(why));
		if (why[0])
			snprintf(ret_why, size, "%s: %s", label_name(l), why);
	}
}

static void detach(struct bb_ab *ab, size_t drive)
{
	const struct bb_open_drive *d = &ab->session.drives[drive];

	for (int l = 0; l < BB_N_LABELS; l++)
		if (ab->slot[l] &&
		    !(l == BB_LABEL_HEAD && ab->slot[BB_LABEL_HEAD] == ab->slot[BB_LABEL_BASE]))
			d->driver->detach(d->state, ab->slot[l]);
	memset(ab->slot, 0, sizeof(ab->slot));
}

static int attach(struct bb_ab *ab, size_t drive, struct bb_prog_stats *before, struct bb_err *err)
{
	const struct bb_open_drive *d = &ab->session.drives[drive];
	int rc = 0;

	for (int l = 0; !rc && l < BB_N_LABELS; l++) {
		ab->warm[l] = false;
		if (!ab->prog[l])
			continue;
		if (l == BB_LABEL_HEAD && ab->opts->same_load) {
			ab->slot[BB_LABEL_HEAD] = ab->slot[BB_LABEL_BASE];
			continue;
		}
		rc = d->driver->attach(d->state, ab->prog[l], &ab->slot[l], err);
		if (!rc && ab->prog[l]->target)
			rc = bb_stats_reader__agreed(bb_target__reader(ab->prog[l]->target),
						     &before[l], err);
	}
	return rc;
}

/* New series for what is about to be measured; what was not loaded anew goes on with the series it
 * has. */
static int begin_series(struct bb_ab *ab, struct bb_ab_case *c, uint32_t load, unsigned int loaded,
			struct bb_err *err)
{
	for (int l = 0; l < BB_N_LABELS; l++) {
		if (c->planned[l] == BB_NO_CASE || !(loaded & 1u << l))
			continue;
		if (!bb_record__series(&ab->report->cases[c->case_of[l]], load,
				       ab->prog[l]->jit_mod64))
			return bb_fail_nomem(err);
	}
	return 0;
}

/* A drive's active comparisons: the last pair and series of each are void, because. */
static int make_void(struct bb_ab *ab, size_t drive, const char *why, struct bb_err *err)
{
	for (size_t i = 0; i < ab->n_cases; i++) {
		struct bb_ab_case *c = &ab->cases[i];
		struct bb_comparison *k = &ab->report->comparisons[c->comparison];

		if (!c->active || !c->has_pair ||
		    bb_ab_case__drive(ab, c) != &ab->session.drives[drive])
			continue;
		if (bb_pair_void(&k->pairs[k->n_pairs - 1], why))
			return bb_fail_nomem(err);
		for (int l = 0; l < BB_N_LABELS; l++)
			if (c->planned[l] != BB_NO_CASE &&
			    bb_record__void(series_of(ab, c, (enum bb_label)l), "%s", why))
				return bb_fail_nomem(err);
	}
	return 0;
}

/* Every active comparison of a drive once, with the loads there are; bits of the labels that were
 * `loaded` anew. */
static int measure_loads(struct bb_ab *ab, size_t drive, uint32_t load, unsigned int loaded,
			 struct bb_err *err)
{
	struct bb_prog_stats before[BB_N_LABELS] = {0};
	char why[300] = "";
	bool is_late;
	int rc;

	memset(ab->tally, 0, sizeof(ab->tally));
	for (size_t i = 0; i < ab->n_cases; i++)
		ab->cases[i].has_pair = false;
	rc = attach(ab, drive, before, err);
	for (size_t i = 0; !rc && i < ab->n_cases; i++) {
		struct bb_ab_case *c = &ab->cases[i];

		if (!c->active || bb_ab_case__drive(ab, c) != &ab->session.drives[drive])
			continue;
		rc = bb_must_end_why();
		if (!rc)
			rc = begin_series(ab, c, load, loaded, err);
		for (int l = 0; !rc && l < BB_N_LABELS; l++)
			if (ab->prog[l])
				rc = bb_test_prog__reset_maps(ab->prog[l], err);
		if (!rc)
			rc = measure_pair(ab, c, err);
	}
	is_late = rc == -ETIME;
	rc = is_late ? 0 : rc; /* what was measured by then is judged */
	if (!rc)
		judge_labels(ab, drive, before, why, sizeof(why));
	if (!rc && why[0])
		rc = make_void(ab, drive, why, err);
	detach(ab, drive);
	return rc || !is_late ? rc : -ETIME;
}

/* New loads of everything, base and head in random order. */
static int load_pair(struct bb_ab *ab, struct bb_err *err)
{
	enum bb_label first = bb_rng_below(&ab->session.rng, 2) ? BB_LABEL_HEAD : BB_LABEL_BASE,
		      order[] = {first, !first, BB_LABEL_FLOOR};
	int rc = 0;

	for (int i = 0; !rc && i < BB_N_LABELS; i++)
		if (ab->prog[order[i]] && !(order[i] == BB_LABEL_HEAD && ab->opts->same_load))
			rc = bb_test_prog__load(ab->prog[order[i]], &ab->session.rng, BB_ANYWHERE,
						1, err);
	return rc;
}

int bb_ab__run_pair(struct bb_ab *ab, size_t drive, uint32_t pair, struct bb_err *err)
{
	enum bb_label moved = bb_rng_below(&ab->session.rng, 2) ? BB_LABEL_HEAD : BB_LABEL_BASE,
		      stays = moved == BB_LABEL_HEAD ? BB_LABEL_BASE : BB_LABEL_HEAD;
	int mod64, rc = load_pair(ab, err);

	if (!rc)
		rc = measure_loads(ab, drive, 2 * pair, BB_ALL_LABELS, err);
	mod64 = ab->prog[stays]->jit_mod64;
	if (rc || ab->opts->same_load || mod64 < 0 || ab->prog[moved]->jit_mod64 == mod64)
		return rc;
	rc = bb_test_prog__load(ab->prog[moved], &ab->session.rng, bb_place(mod64), MATCH_TRIES,
				err);
	if (rc == -EAGAIN)
		return 0; /* this pair stays unmatched */
	return rc ? rc : measure_loads(ab, drive, 2 * pair + 1, 1u << moved, err);
}

double bb_ab__pair_s(const struct bb_pace *pace)
{
	return pace->sample_s * (4 + 1) * pace->pair_turn * (BLOCKS_MATCHED + BLOCKS_UNMATCHED);
}
