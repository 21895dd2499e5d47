/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/stop.h"
#include "bpf/stats_enable.h"
#include "drivers/lines_plan.h"
#include "drivers/turn.h"
#include "stats/quantile.h"

#define BLOCK BB_LINES_BLOCK /* runs of one thing in a row that are samples */
#define WARMUP 2u            /* and runs before them */
#define DOUBLED 6u           /* places at which the doubled clone is measured */
#define TICK_NS 10.0 /* coarser than that no clock of a kernel is: samples are multiples of it */
#define MOST_CHECK_NS 3.0
#define LOGGED 25u    /* runs at most, of which most take the way that is shown */
#define LOG_S 0.2     /* for them */
#define IN_VAIN 1000u /* of them, when others make it run */
#define MOST_MEASURED 240u
#define SWEEP_SHARE 0.02 /* of the time left, for one sweep over all places */

enum thing { PROGRAM, CLONE, DOUBLED_CLONE, EMPTY, LOGGER, N_THINGS };
#define IN_TURNS LOGGER /* those before it; the logger only finds the path */

/* What is measured in turns. */
struct item {
	enum thing thing;
	uint32_t place; /* of the path; path->n: it runs to its end */
};

/* Means of blocks. */
struct means {
	double *v;
	size_t n;
};

/* One parameter of a variant. */
struct at_param {
	uint32_t param;
	struct bb_line_path path;
	struct item *items;
	uint32_t n_items;
	struct means *means; /* by load and item */
	uint32_t n_loads;
	uint64_t runs, other_ways;
	double *results; /* made by bb_lines__of() */
};

struct variant {
	const struct bb_variant_spec *spec;
	struct bb_lines_plan plan;
	bool is_planned;
	struct at_param *params;
	size_t n_params;
	uint32_t n_loads;
};

struct state {
	const struct bb_lines_trigger *trigger;
	void *fired; /* the trigger's */
	const struct bb_drive_spec *spec;
	struct bb_cut_memory memory;
	struct bb_rng rng;
	struct variant **variants; /* each apart, as slots point to them */
	size_t n_variants;
};

/* One load of one of the programs that take turns. */
struct loaded {
	int prog_fd; /* -1: none */
	bool is_ours;
	struct bb_stats_reader reader;
	void *place; /* the trigger's */
};

struct slot {
	struct bb_target *target;
	struct variant *variant;
	uint32_t load;
	struct loaded things[N_THINGS];
};

/* One block, while it is fired. */
struct block {
	const struct state *state;
	struct slot *slot;
	const struct loaded *thing;
	uint64_t nth;    /* cut to end at; UINT64_MAX: none */
	int64_t ends_at; /* which one that has to be; -1: none, -2: whichever */
	bool restores;   /* a whole run goes before each, which leaves maps as it does */
	bool is_restoring;
	unsigned int warmup; /* still to be made */
	uint32_t runs_each;  /* that one firing brings */
	size_t want, n;
	uint64_t ns[BLOCK];
	uint64_t fired, warmed, run_cnt, run_time_ns, multi, other_ways;
	int64_t ended_at; /* of the last run */
	bool drain_each_run;
	struct bb_prog_stats last;
};

_Static_assert(sizeof(struct block) <= BB_LINES_ARG_BYTES, "a process that fires has a copy");

static void arm(struct block *b)
{
	if (b->nth == UINT64_MAX || b->is_restoring)
		bb_cut_memory__end_nowhere(&b->state->memory);
	else
		bb_cut_memory__end_at(&b->state->memory, b->nth);
}

static void take_sample(struct block *b, const struct bb_prog_stats *now)
{
	uint64_t runs = now->run_cnt - b->last.run_cnt, ns = now->run_time_ns - b->last.run_time_ns;

	if (b->warmup) {
		b->warmup--;
		b->warmed++;
		return;
	}
	b->fired++;
	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs != b->runs_each)
		b->multi += runs;
	else if (b->ends_at >= -1 && b->ended_at != b->ends_at)
		b->other_ways++;
	else
		b->ns[b->n++] = (ns + runs / 2) / runs;
}

static int after_run(void *arg)
{
	struct block *b = arg;
	struct bb_prog_stats now;
	int rc = bb_stats_reader__info(&b->thing->reader, &now);

	if (rc)
		return rc;
	b->ended_at = bb_cut_memory__ended_at(&b->state->memory);
	bb_target__drain(b->slot->target, !b->drain_each_run);
	if (b->is_restoring) {
		b->is_restoring = false;
	} else {
		take_sample(b, &now);
		b->is_restoring = b->restores;
	}
	b->last = now;
	arm(b);
	return b->fired >= b->want || bb_must_end();
}

static int fire(struct block *b, uint32_t param, struct bb_err *err)
{
	int rc = bb_stats_reader__info(&b->thing->reader, &b->last);

	if (rc)
		return bb_fail(err, rc, "reading the counters of a clone of '%s': %s",
			       bb_target__program(b->slot->target), strerror(-rc));
	b->is_restoring = b->restores;
	b->runs_each = b->state->trigger->runs_each ? b->state->trigger->runs_each(b->thing->place)
						    : 1;
	arm(b);
	rc = b->state->trigger->run(b->state->fired, b->thing->place, b->slot->target, param,
				    &(struct bb_lines_block){after_run, b, sizeof(*b)}, err);
	bb_cut_memory__end_nowhere(&b->state->memory);
	return rc;
}

/* --- loads --- */

static void unload(const struct state *s, struct loaded *l)
{
	if (l->place)
		s->trigger->detach(s->fired, l->place);
	if (l->is_ours && l->prog_fd >= 0) {
		bb_stats_reader__close(&l->reader);
		close(l->prog_fd);
	}
	*l = (struct loaded){.prog_fd = -1};
}

static void close_slot(const struct state *s, struct slot *slot)
{
	if (!slot)
		return;
	for (int i = 0; i < N_THINGS; i++)
		unload(s, &slot->things[i]);
	free(slot);
}

static int attach_thing(const struct state *s, struct bb_test_prog *subject, struct loaded *l,
			struct bb_err *err)
{
	int rc = 0;

	if (l->is_ours)
		rc = bb_stats_reader__open(l->prog_fd, &l->reader, err);
	else
		l->reader = *bb_target__reader(subject->target);
	return rc ? rc : s->trigger->attach(s->fired, subject, l->prog_fd, &l->place, err);
}

/* The clone of this load, and what takes turns with it. */
static int load_things(const struct state *s, struct bb_test_prog *subject, struct slot *slot,
		       struct bb_err *err)
{
	const struct bb_lines_plan *plan = &slot->variant->plan;
	struct loaded *things = slot->things;
	struct bb_cut_form form = plan->form;
	int rc = 0;

	things[PROGRAM].prog_fd = bb_target__prog_fd(subject->target);
	for (int i = CLONE; i < N_THINGS; i++)
		things[i].is_ours = true;
	rc = bb_lines_plan__load(plan, &form, &things[CLONE].prog_fd, err);
	form.doubled = true;
	if (!rc)
		rc = bb_lines_plan__load(plan, &form, &things[DOUBLED_CLONE].prog_fd, err);
	if (!rc)
		rc = bb_cut_clone__load_empty(&plan->code, form.retval, &things[EMPTY].prog_fd,
					      err);
	for (int i = 0; !rc && i < IN_TURNS; i++)
		rc = attach_thing(s, subject, &things[i], err);
	return rc;
}

static int load_logger(const struct state *s, struct bb_test_prog *subject, struct slot *slot,
		       struct bb_err *err)
{
	struct loaded *l = &slot->things[LOGGER];
	const struct bb_cut_form form = {.logs = true};
	int rc = bb_lines_plan__load(&slot->variant->plan, &form, &l->prog_fd, err);

	l->is_ours = true;
	return rc ? rc : attach_thing(s, subject, l, err);
}

/* --- the plan --- */

/* One run, as the cuts that it passes; owned. */
struct way {
	uint32_t *cuts, n;
	unsigned int times;
	double ns; /* of the logging run */
};

static void drop_ways(struct way *ways, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(ways[i].cuts);
}

/* The last run of those in the log. -E2BIG: it passes more than the log holds. */
static int read_log(const struct state *s, struct way *ret_way)
{
	uint64_t logged = bb_cut_memory__logged(&s->memory);
	uint32_t n = 0;

	/* back to the cut that a run begins with, the first of all */
	while (n < logged && n < BB_CUT_LOG &&
	       (!n || bb_cut_memory__log(&s->memory, logged - n) != 0))
		n++;
	if (n == BB_CUT_LOG)
		return -E2BIG;
	*ret_way = (struct way){.cuts = calloc(n + 1, sizeof(uint32_t)), .n = n};
	for (uint32_t i = 0; ret_way->cuts && i < n; i++)
		ret_way->cuts[i] = bb_cut_memory__log(&s->memory, logged - n + i);
	return ret_way->cuts ? 0 : -ENOMEM;
}

/* One run of the logger, into ret_way. -EAGAIN: it was not alone. */
static int log_run(const struct state *s, struct slot *slot, uint32_t param, struct way *ret_way,
		   struct bb_err *err)
{
	struct block b = {.state = s,
			  .slot = slot,
			  .thing = &slot->things[LOGGER],
			  .nth = UINT64_MAX,
			  .ends_at = -2,
			  .warmup = 1, /* for a program that the way to it makes run */
			  .want = 1,
			  .drain_each_run = s->spec->step.consumer == BB_DRAIN_EACH_RUN};
	int rc;

	bb_cut_memory__begin_log(&s->memory);
	rc = fire(&b, param, err);
	if (rc)
		return rc;
	if (bb_must_end())
		return bb_must_end_why();
	if (!b.n)
		return -EAGAIN;
	rc = read_log(s, ret_way);
	ret_way->ns = (double)b.ns[0];
	return rc == -ENOMEM ? bb_fail_nomem(err) : rc;
}

static bool same_way(const struct way *a, const struct way *b)
{
	return a->n == b->n && !memcmp(a->cuts, b->cuts, a->n * sizeof(*a->cuts));
}

/* The cuts that most of some runs pass, in their order. -E2BIG: too many. */
static int find_path(const struct state *s, struct slot *slot, uint32_t param, struct way *ret_way,
		     struct bb_err *err)
{
	struct way ways[LOGGED], now;
	unsigned int n = 0, most = 0, runs = 0, in_vain = 0;
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	/* the first one is a warm-up: maps may be empty */
	while (runs <= LOGGED && in_vain < IN_VAIN &&
	       (runs < 3 || bb_seconds_since(began_ns) < LOG_S)) {
		unsigned int k = 0;

		rc = log_run(s, slot, param, &now, err);
		if (rc == -EAGAIN) {
			in_vain++;
			continue;
		}
		if (rc)
			break;
		if (!runs++) {
			free(now.cuts);
			continue;
		}
		while (k < n && !same_way(&ways[k], &now))
			k++;
		if (k == n)
			ways[n++] = now;
		else
			free(now.cuts);
		ways[k].times++;
		most = ways[k].times > ways[most].times ? k : most;
	}
	if (!n && (!rc || rc == -EAGAIN))
		rc = bb_fail(err, -ENOTSUP,
			     "no run of '%s' was alone: others make it run all the time",
			     slot->variant->plan.code.name);
	if (rc == -EAGAIN)
		rc = 0;
	if (!rc) {
		*ret_way = ways[most];
		ways[most].cuts = NULL;
	}
	drop_ways(ways, n);
	return rc;
}

static int make_items(struct at_param *p)
{
	uint32_t n = p->path.n_measured, k = 0;

	p->items = calloc(2 + (size_t)n + 1 + DOUBLED, sizeof(*p->items));
	if (!p->items)
		return -ENOMEM;
	p->items[k++] = (struct item){PROGRAM, p->path.n};
	p->items[k++] = (struct item){EMPTY, p->path.n};
	for (uint32_t i = 0; i < n; i++)
		p->items[k++] = (struct item){CLONE, p->path.measured[i]};
	p->items[k++] = (struct item){CLONE, p->path.n};
	for (uint32_t i = 0, last = UINT32_MAX; i < DOUBLED; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * (n - 1) / (DOUBLED - 1));

		if (at != last)
			p->items[k++] = (struct item){DOUBLED_CLONE, p->path.measured[at]};
		last = at;
	}
	p->n_items = k;
	return 0;
}

/* So many places that a budget has room for many sweeps. */
static uint32_t most_places(double run_ns)
{
	double sweep_s = bb_deadline_left_s() * SWEEP_SHARE,
	       place_s = run_ns * 1e-9 * (BLOCK + WARMUP);

	return (uint32_t)fmin(sweep_s / place_s, MOST_MEASURED);
}

static int plan_param(const struct state *s, struct slot *slot, uint32_t param, struct bb_err *err)
{
	struct variant *v = slot->variant;
	struct at_param *p;
	struct way way = {0};
	int rc = find_path(s, slot, param, &way, err);

	if (rc)
		return rc;
	if (!way.n) {
		free(way.cuts);
		return bb_fail(err, -EPROTO, "a clone of '%s' passes none of its cuts",
			       v->plan.code.name);
	}
	p = bb_append(&v->params, &v->n_params, sizeof(*p));
	if (!p) {
		free(way.cuts);
		return bb_fail_nomem(err);
	}
	p->param = param;
	rc = bb_line_path__make(&v->plan.code, &v->plan.cfg, &v->plan.cuts, way.cuts, way.n,
				most_places(way.ns), &p->path, err);
	return rc ? rc : make_items(p) ? bb_fail_nomem(err) : 0;
}

static uint32_t count_params(const struct bb_drive_spec *spec)
{
	if (spec->kind->takes_inputs)
		return spec->inputs.n ? (uint32_t)spec->inputs.n : 1;
	return spec->values.n ? (uint32_t)spec->values.n : 1;
}

static void drop_params(struct variant *v)
{
	for (size_t i = 0; i < v->n_params; i++) {
		struct at_param *p = &v->params[i];

		for (size_t k = 0; p->means && k < (size_t)p->n_loads * p->n_items; k++)
			free(p->means[k].v);
		free(p->means);
		free(p->items);
		free(p->results);
		bb_line_path__done(&p->path);
	}
	free(v->params);
	v->params = NULL;
	v->n_params = 0;
}

static int plan_params(const struct state *s, struct slot *slot, struct bb_err *err)
{
	uint32_t n = count_params(s->spec);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++)
		rc = plan_param(s, slot,
				s->spec->kind->takes_inputs || !s->spec->values.n
					? i
					: s->spec->values.v[i],
				err);
	if (rc)
		drop_params(slot->variant);
	return rc;
}

/* The cuts that the verifier allows, and the ways through them; fewer cuts where a run passes too
 * many. */
static int plan_variant(struct state *s, struct bb_test_prog *subject, struct slot *slot,
			struct bb_err *err)
{
	struct variant *v = slot->variant;
	int rc;

	for (;;) {
		rc = bb_lines_plan__settle(&v->plan, s->memory.fd, err);
		if (!rc)
			rc = load_things(s, subject, slot, err);
		if (!rc)
			rc = load_logger(s, subject, slot, err);
		if (!rc)
			rc = plan_params(s, slot, err);
		unload(s, &slot->things[LOGGER]);
		if (rc != -E2BIG)
			break;
		for (int i = 0; i < N_THINGS; i++)
			unload(s, &slot->things[i]);
		if (v->plan.detail == BB_CUT_CALLS)
			return bb_fail(err, -ENOTSUP, "a run of '%s' passes more than %u cuts",
				       v->plan.code.name, BB_CUT_LOG);
		v->plan.detail--;
	}
	v->is_planned = !rc;
	return rc;
}

/* With the kernel counting runs, which it does not yet when programs are probed. */
static int plan_counted(struct state *s, struct bb_test_prog *subject, struct slot *slot,
			struct bb_err *err)
{
	struct bb_stats_enable stats;
	int rc = bb_stats_enable__on(&stats, err);

	if (rc)
		return rc;
	rc = plan_variant(s, subject, slot, err);
	bb_stats_enable__off(&stats);
	return rc;
}

static struct variant *variant_of(struct state *s, const struct bb_variant_spec *spec)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (s->variants[i]->spec == spec)
			return s->variants[i];
	return NULL;
}

static struct variant *add_variant(struct state *s, const struct bb_variant_spec *spec)
{
	struct variant *v = calloc(1, sizeof(*v)), **place;

	place = v ? bb_append(&s->variants, &s->n_variants, sizeof(*place)) : NULL;
	if (!place) {
		free(v);
		return NULL;
	}
	*place = v;
	v->spec = spec;
	v->plan.detail = BB_CUT_ALL;
	return v;
}

/* Room for the means of one more load. */
static int add_load(struct variant *v)
{
	for (size_t i = 0; i < v->n_params; i++) {
		struct at_param *p = &v->params[i];
		size_t had = (size_t)v->n_loads * p->n_items;
		struct means *means = reallocarray(p->means, had + p->n_items, sizeof(*means));

		if (!means)
			return -ENOMEM;
		memset(&means[had], 0, p->n_items * sizeof(*means));
		p->means = means;
		p->n_loads = v->n_loads + 1;
	}
	v->n_loads++;
	return 0;
}

/* A slot with everything loaded; the plan is made when there is none. */
static int open_slot(struct state *s, struct bb_test_prog *subject, struct slot **ret_slot,
		     struct bb_err *err)
{
	struct slot *slot = calloc(1, sizeof(*slot));
	struct variant *v = variant_of(s, subject->spec);
	int rc;

	if (!v)
		v = add_variant(s, subject->spec);
	if (!slot || !v) {
		free(slot);
		return bb_fail_nomem(err);
	}
	for (int i = 0; i < N_THINGS; i++)
		slot->things[i].prog_fd = -1;
	slot->target = subject->target;
	slot->variant = v;
	rc = bb_lines_plan__read(&v->plan, subject->target, err);
	if (!rc)
		rc = v->is_planned ? load_things(s, subject, slot, err)
				   : plan_counted(s, subject, slot, err);
	bb_lines_plan__forget(&v->plan);
	if (rc)
		close_slot(s, slot);
	else
		*ret_slot = slot;
	return rc;
}

/* Can it be cut, and where? */
int bb_lines__probe(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	const struct state *s = state;
	struct slot *slot;
	int rc = s->trigger->probe ? s->trigger->probe(s->fired, subject, err) : 0;

	if (!rc)
		rc = open_slot(state, subject, &slot, err);
	if (!rc)
		close_slot(state, slot);
	return rc;
}

int bb_lines__attach(void *state, struct bb_test_prog *subject, void **ret_slot, struct bb_err *err)
{
	struct slot *slot;
	int rc = open_slot(state, subject, &slot, err);

	if (rc)
		return rc;
	slot->load = slot->variant->n_loads;
	*ret_slot = slot;
	return add_load(slot->variant) ? bb_fail_nomem(err) : 0;
}

void bb_lines__detach(void *state, void *slot)
{
	close_slot(state, slot);
}

/* --- a sweep: a block of each --- */

/*
 * The mean without outliers on both sides. Not a median: a sample is a multiple of the clock's
 * tick, and only a mean of many falls between two of them.
 */
static double mean_of(const uint64_t *ns, size_t n)
{
	double x[BLOCK], median, width, sum = 0;
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		x[i] = (double)ns[i];
	bb_sort_doubles(x, n);
	median = bb_quantile_sorted(x, n, 0.5);
	width = 1.5 * TICK_NS +
		1.5 * (bb_quantile_sorted(x, n, 0.75) - bb_quantile_sorted(x, n, 0.25));
	for (size_t i = 0; i < n; i++) {
		if (fabs(x[i] - median) > width)
			continue;
		sum += x[i];
		k++;
	}
	return sum / (double)k;
}

static int keep_mean(struct at_param *p, uint32_t load, uint32_t item, double ns)
{
	struct means *m = &p->means[(size_t)load * p->n_items + item];
	double *v = bb_append(&m->v, &m->n, sizeof(*v));

	if (!v)
		return -ENOMEM;
	*v = ns;
	return 0;
}

static int fire_item(const struct state *s, struct slot *slot, struct at_param *p, uint32_t i,
		     size_t want, struct bb_batch *b, struct bb_err *err)
{
	const struct item *it = &p->items[i];
	bool ends = it->place < p->path.n;
	struct block block = {.state = s,
			      .slot = slot,
			      .thing = &slot->things[it->thing],
			      .nth = ends ? it->place : UINT64_MAX,
			      .ends_at = ends ? (int64_t)p->path.cuts[it->place] : -1,
			      .restores = ends && slot->variant->plan.removes,
			      .warmup = WARMUP,
			      .want = want,
			      .drain_each_run = b->drain_each_run};
	int rc = fire(&block, p->param, err);

	if (it->thing == PROGRAM) {
		memcpy(&b->ns[b->n], block.ns, block.n * sizeof(*b->ns));
		b->n += block.n;
		b->fired += block.fired;
		b->warmup += block.warmed;
		b->run_cnt += block.run_cnt;
		b->run_time_ns += block.run_time_ns;
		b->multi += block.multi;
	} else {
		p->runs += block.n;
		p->other_ways += block.other_ways;
	}
	if (!rc && block.n && keep_mean(p, slot->load, i, mean_of(block.ns, block.n)))
		rc = bb_fail_nomem(err);
	return rc;
}

static struct at_param *at_param(struct variant *v, uint32_t param)
{
	for (size_t i = 0; i < v->n_params; i++)
		if (v->params[i].param == param)
			return &v->params[i];
	return NULL;
}

int bb_lines__batch(void *state, void *slot_, uint32_t param, struct bb_batch *b,
		    struct bb_err *err)
{
	struct state *s = state;
	struct slot *slot = slot_;
	struct at_param *p = at_param(slot->variant, param);
	uint64_t began_ns = bb_now_ns();
	size_t want = b->want < BLOCK ? b->want : BLOCK;
	uint32_t *order;
	int rc = 0;

	b->target_cpu_s = NAN;
	b->warmup = 0;
	if (!p)
		return bb_fail(err, -EINVAL, "'%s' was not planned with parameter %u",
			       bb_target__program(slot->target), param);
	order = calloc(p->n_items, sizeof(*order));
	if (!order)
		return bb_fail_nomem(err);
	for (uint32_t i = 0; i < p->n_items; i++)
		order[i] = i;
	/* the program first, so that a batch that is cut short has samples */
	bb_rng_shuffle(&s->rng, order + 1, p->n_items - 1);
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	for (uint32_t i = 0; !rc && i < p->n_items && !bb_must_end(); i++) {
		bb_give_way();
		rc = fire_item(s, slot, p, order[i], want, b, err);
	}
	free(order);
	b->elapsed_s = bb_seconds_since(began_ns);
	return rc ? rc : bb_stop_signal ? -EINTR : 0;
}

/* --- results --- */

/* Of a load and an item: a mean without the outer fifths; NAN: it has none. */
static double load_ns(const struct at_param *p, uint32_t load, uint32_t item)
{
	const struct means *m = &p->means[(size_t)load * p->n_items + item];
	size_t off = m->n / 5;
	double sum = 0;

	if (!m->n)
		return NAN;
	bb_sort_doubles(m->v, m->n);
	for (size_t i = off; i < m->n - off; i++)
		sum += m->v[i];
	return sum / (double)(m->n - 2 * off);
}

/* Checks that a run passes besides that of the first cut. */
static double checks_at(const struct at_param *p, uint32_t place)
{
	return p->path.checks[place < p->path.n ? place : p->path.n - 1];
}

/*
 * The price of a check: the slope of doubled less single against the number of checks, by least
 * squares over all loads; through 0 where there are too few places for a slope.
 */
static double check_price(const struct at_param *p)
{
	uint32_t first = 2, end = first + p->path.n_measured + 1;
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, price;

	for (uint32_t i = end; i < p->n_items; i++) {
		double x = 1 + checks_at(p, p->items[i].place);

		for (uint32_t j = first; j < end; j++) {
			if (p->items[j].place != p->items[i].place)
				continue;
			for (uint32_t l = 0; l < p->n_loads; l++) {
				double y = load_ns(p, l, i) - load_ns(p, l, j);

				if (isnan(y))
					continue;
				n++;
				sx += x;
				sy += y;
				sxx += x * x;
				sxy += x * y;
			}
		}
	}
	if (n <= 0)
		return 0;
	price = p->n_items - end > 3 ? (n * sxy - sx * sy) / (n * sxx - sx * sx) : sxy / sxx;
	return fmin(fmax(price, 0), MOST_CHECK_NS);
}

/* One load's rows. */
static int share_load(const struct at_param *p, uint32_t load, double check_ns, double *program_ns,
		      double *empty_ns, double *rows_ns, double *first_ns, double *rest_ns)
{
	uint32_t n = p->path.n_measured, first = 2;
	double *cumulative = calloc(n, sizeof(*cumulative)), entry = load_ns(p, load, first),
	       empty = load_ns(p, load, 1);
	int rc;

	if (!cumulative)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		cumulative[i] = load_ns(p, load, first + i) - entry + empty -
				check_ns * checks_at(p, p->path.measured[i]);
	*program_ns = load_ns(p, load, 0);
	*empty_ns = empty;
	*rest_ns = p->path.leaves ? *program_ns - cumulative[n - 1] : 0;
	rc = bb_line_path__share(&p->path, cumulative, rows_ns, first_ns);
	free(cumulative);
	return rc;
}

int bb_lines__of(void *state, const struct bb_variant_spec *spec, uint32_t param,
		 struct bb_lines *ret_lines)
{
	struct variant *v = variant_of(state, spec);
	struct at_param *p = v ? at_param(v, param) : NULL;
	size_t n_rows = p ? p->path.n_rows : 0;
	double *program, *empty, *rest, *rows, *first;
	int rc = 0;

	if (!p || !p->n_loads)
		return -ENOENT;
	free(p->results);
	p->results = calloc(p->n_loads * (3 + 2 * n_rows), sizeof(*p->results));
	if (!p->results)
		return -ENOMEM;
	program = p->results;
	empty = program + p->n_loads;
	rest = empty + p->n_loads;
	rows = rest + p->n_loads;
	first = rows + p->n_loads * n_rows;
	*ret_lines = (struct bb_lines){.path = &p->path,
				       .program_ns = program,
				       .empty_ns = empty,
				       .rows_ns = rows,
				       .first_ns = first,
				       .rest_ns = rest,
				       .n_loads = p->n_loads,
				       .check_ns = check_price(p),
				       .n_cuts = v->plan.cuts.n,
				       .refused = v->plan.refused,
				       .refused_why = v->plan.refused_why,
				       .runs = p->runs,
				       .other_ways = p->other_ways};
	for (uint32_t l = 0; !rc && l < p->n_loads; l++)
		rc = share_load(p, l, ret_lines->check_ns, &program[l], &empty[l],
				&rows[l * n_rows], &first[l * n_rows], &rest[l]);
	return rc;
}

/* --- the state --- */

void bb_lines__close(void *state)
{
	struct state *s = state;

	if (!s)
		return;
	for (size_t i = 0; i < s->n_variants; i++) {
		drop_params(s->variants[i]);
		bb_lines_plan__done(&s->variants[i]->plan);
		free(s->variants[i]);
	}
	free(s->variants);
	s->trigger->close(s->fired);
	bb_cut_memory__close(&s->memory);
	free(s);
}

int bb_lines__open(const struct bb_lines_trigger *trigger, const struct bb_drive_spec *spec,
		   const struct bb_driver_opts *opts, void **ret_state, struct bb_err *err)
{
	struct state *s = calloc(1, sizeof(*s));
	int rc = s ? 0 : bb_fail_nomem(err);

	if (rc)
		return rc;
	s->trigger = trigger;
	s->spec = spec;
	s->memory.fd = -1;
	bb_rng_seed(&s->rng, opts->seed);
	rc = trigger->open(spec, opts, &s->fired, err);
	if (!rc)
		rc = bb_cut_memory__open(&s->memory, err);
	if (rc)
		bb_lines__close(s);
	else
		*ret_state = s;
	return rc;
}
