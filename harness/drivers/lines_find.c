/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines: where a program is cut and which path its runs take. */
#include "drivers/lines_state.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/grow.h"
#include "bpf/stats_enable.h"

#define DOUBLED 6u    /* places at which the doubled clone is measured */
#define LOGGED 25u    /* runs at most, of which most take the path that is shown */
#define LOG_S 0.2     /* for them */
#define IN_VAIN 1000u /* of them, when others make it run */
#define MOST_MEASURED 240u
#define SWEEP_SHARE 0.02 /* of the time left, for one sweep over all places */

/* One run, as the cuts that it passes; owned. */
struct path {
	uint32_t *cuts, n;
	unsigned int times;
	double ns; /* of the logging run */
};

static void drop_paths(struct path *paths, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		free(paths[i].cuts);
}

/* The last run of those in the log. -E2BIG: it passes more than the log holds. */
static int read_log(const struct bb_lines_state *s, struct path *ret_path)
{
	uint64_t logged = bb_cut_memory__logged(&s->memory);
	uint32_t n = 0;

	/* back to the cut that a run begins with, the first of all */
	while (n < logged && n < BB_CUT_LOG &&
	       (!n || bb_cut_memory__log(&s->memory, logged - n) != 0))
		n++;
	if (n == BB_CUT_LOG)
		return -E2BIG;
	*ret_path = (struct path){.cuts = calloc(n + 1, sizeof(uint32_t)), .n = n};
	for (uint32_t i = 0; ret_path->cuts && i < n; i++)
		ret_path->cuts[i] = bb_cut_memory__log(&s->memory, logged - n + i);
	return ret_path->cuts ? 0 : -ENOMEM;
}

/* One run of the logger after `before` others, into ret_path. -EAGAIN: it was not alone. */
static int log_run(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		   unsigned int before, struct path *ret_path, struct bb_err *err)
{
	const struct bb_lines_block block = {
		.thing = &slot->things[BB_LINES_LOGGER],
		.nth = UINT64_MAX,
		.ends_at = -2,
		.batch = {.want = 1,
			  .warmup = before,
			  .drain_each_run = s->spec->step.consumer == BB_DRAIN_EACH_RUN},
	};
	int rc;

	bb_cut_memory__begin_log(&s->memory);
	rc = bb_lines_block__fire(s, &block, param, err);
	if (rc)
		return rc;
	if (bb_must_end())
		return bb_must_end_why();
	if (!s->block->batch.n)
		return -EAGAIN;
	rc = read_log(s, ret_path);
	ret_path->ns = (double)s->block->ns[0];
	return rc == -ENOMEM ? bb_fail_nomem(err) : rc;
}

static bool same_path(const struct path *a, const struct path *b)
{
	return a->n == b->n && !memcmp(a->cuts, b->cuts, a->n * sizeof(*a->cuts));
}

/* The cuts that most of some runs pass, in their order. -E2BIG: too many. */
static int find_path(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		     struct path *ret_path, struct bb_err *err)
{
	struct path paths[LOGGED], now;
	unsigned int n = 0, most = 0, runs = 0, in_vain = 0;
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	/* the first one is a warm-up: maps may be empty */
	while (runs <= LOGGED && in_vain < IN_VAIN &&
	       (runs < 3 || bb_seconds_since(began_ns) < LOG_S)) {
		unsigned int k = 0;

		/* one at least, for a program that its own firing makes run; not as many each time,
		 * for one whose runs take turns */
		rc = log_run(s, slot, param, 1 + (runs + in_vain) % 3, &now, err);
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
		while (k < n && !same_path(&paths[k], &now))
			k++;
		if (k == n)
			paths[n++] = now;
		else
			free(now.cuts);
		paths[k].times++;
		most = paths[k].times > paths[most].times ? k : most;
	}
	if (!n && (!rc || rc == -EAGAIN))
		rc = bb_fail(err, -ENOTSUP,
			     "no run of '%s' was alone: others make it run all the time",
			     slot->variant->plan.code.name);
	if (rc == -EAGAIN)
		rc = 0;
	if (!rc) {
		*ret_path = paths[most];
		paths[most].cuts = NULL;
	}
	drop_paths(paths, n);
	return rc;
}

static void add_item(struct bb_lines_case *p, enum bb_lines_thing thing, uint32_t place,
		     bool is_bare)
{
	p->items[p->n_items++] = (struct bb_lines_item){thing, place, is_bare};
}

static int make_items(struct bb_lines_case *p)
{
	const uint32_t *measured = p->path.measured;
	uint32_t n = p->path.n_measured;

	p->items = calloc(BB_LINES_ITEM_FIRST_CUT + (size_t)n + 2 + DOUBLED, sizeof(*p->items));
	if (!p->items)
		return -ENOMEM;
	add_item(p, BB_LINES_PROGRAM, p->path.n, false);
	add_item(p, BB_LINES_EMPTY, p->path.n, false);
	for (uint32_t i = 0; i < n; i++)
		add_item(p, BB_LINES_CLONE, measured[i], false);
	p->first_bare = p->n_items;
	add_item(p, BB_LINES_CLONE, measured[0], true);
	add_item(p, BB_LINES_CLONE, measured[n - 1], true);
	p->first_doubled = p->n_items;
	for (uint32_t i = 0, last = UINT32_MAX; i < DOUBLED; i++) {
		uint32_t at = (uint32_t)((uint64_t)i * (n - 1) / (DOUBLED - 1));

		if (at != last)
			add_item(p, BB_LINES_DOUBLED_CLONE, measured[at], false);
		last = at;
	}
	return 0;
}

/* So many places that a budget has room for many sweeps. */
static uint32_t most_places(double run_ns)
{
	double sweep_s = bb_deadline_left_s() * SWEEP_SHARE,
	       place_s = run_ns * 1e-9 * (BB_LINES_BLOCK + BB_LINES_WARMUP);

	return (uint32_t)fmin(sweep_s / place_s, MOST_MEASURED);
}

static int plan_param(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		      struct bb_err *err)
{
	struct bb_lines_variant *v = slot->variant;
	struct bb_lines_case *p;
	struct path path = {0};
	int rc = find_path(s, slot, param, &path, err);

	if (rc)
		return rc;
	if (!path.n) {
		free(path.cuts);
		return bb_fail(err, -EPROTO, "a clone of '%s' passes none of its cuts",
			       v->plan.code.name);
	}
	p = bb_append(&v->cases, &v->n_cases, sizeof(*p));
	if (!p) {
		free(path.cuts);
		return bb_fail_nomem(err);
	}
	p->param = param;
	p->is_cold = s->spec->caches == BB_CACHES_COLD;
	rc = bb_line_path__make(&v->plan.code, &v->plan.cfg, &v->plan.cuts, path.cuts, path.n,
				most_places(path.ns), &p->path, err);
	return rc ? rc : make_items(p) ? bb_fail_nomem(err) : 0;
}

static uint32_t count_params(const struct bb_drive_spec *spec)
{
	if (spec->kind->takes_inputs)
		return spec->inputs.n ? (uint32_t)spec->inputs.n : 1;
	return spec->values.n ? (uint32_t)spec->values.n : 1;
}

void bb_lines_variant__done(struct bb_lines_variant *v)
{
	for (size_t i = 0; i < v->n_cases; i++) {
		struct bb_lines_case *p = &v->cases[i];

		for (size_t k = 0; p->means && k < (size_t)p->n_loads * p->n_items; k++)
			free(p->means[k].v);
		free(p->means);
		free(p->items);
		free(p->ns);
		free(p->results);
		bb_line_path__done(&p->path);
	}
	free(v->cases);
	v->cases = NULL;
	v->n_cases = 0;
}

static int plan_cases(const struct bb_lines_state *s, struct bb_lines_slot *slot,
		      struct bb_err *err)
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
		bb_lines_variant__done(slot->variant);
	return rc;
}

/* The cuts that the verifier allows, and the paths through them; fewer cuts where a run passes too
 * many. */
static int plan_variant(struct bb_lines_state *s, struct bb_test_prog *subject,
			struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_lines_variant *v = slot->variant;
	struct bb_err too_many;
	int rc;

	for (;;) {
		rc = bb_lines_plan__settle(&v->plan, s->memory.fd, err);
		if (!rc)
			rc = bb_lines_slot__load(s, subject, slot, err);
		if (!rc)
			rc = bb_lines_slot__load_logger(s, subject, slot, err);
		if (!rc)
			rc = plan_cases(s, slot, err);
		bb_lines_slot__unload(s, slot, BB_LINES_LOGGER);
		if (rc != -E2BIG)
			break;
		for (enum bb_lines_thing i = 0; i < BB_LINES_N_THINGS; i++)
			bb_lines_slot__unload(s, slot, i);
		bb_fail(&too_many, -ENOTSUP, "a run of '%s' passes more than %u cuts",
			v->plan.code.name, BB_CUT_LOG);
		if (!bb_lines_plan__coarsen(&v->plan, too_many.msg))
			return bb_fail(err, -ENOTSUP, "%s", too_many.msg);
	}
	v->is_planned = !rc;
	return rc;
}

/* With the kernel counting runs, which it does not yet when programs are probed. */
int bb_lines_variant__plan(struct bb_lines_state *s, struct bb_test_prog *subject,
			   struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_stats_enable stats;
	int rc = bb_stats_enable__on(&stats, err);

	if (rc)
		return rc;
	rc = plan_variant(s, subject, slot, err);
	bb_stats_enable__off(&stats);
	return rc;
}
