/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/lines.h"

#include "stats/quantile.h"

/* coarsest tick of the clocks by which kernels time runs, ns */
#define TICK_NS 10.0

struct bb_lines_variant *bb_lines_state__variant(struct bb_lines_state *s,
						 const struct bb_variant_spec *spec)
{
	struct bb_lines_variant **found = BB_FIND(s->variants, s->n_variants, (*it)->spec == spec);

	return found ? *found : NULL;
}

void bb_lines_slot__unload(struct bb_lines_slot *slot, enum bb_lines_thing thing)
{
	struct bb_lines_loaded *l = &slot->things[thing];

	bb_trigger__detach(l->attached);
	if (thing != BB_LINES_PROGRAM && l->prog_fd >= 0) {
		bb_stats_reader__close(&l->reader);
		close(l->prog_fd);
	}
	*l = (struct bb_lines_loaded){.prog_fd = -1};
}

static int attach_thing(struct bb_lines_slot *slot, enum bb_lines_thing thing, struct bb_err *err)
{
	struct bb_lines_loaded *l = &slot->things[thing];
	int rc = 0;

	if (thing != BB_LINES_PROGRAM) {
		rc = bb_stats_reader__open(l->prog_fd, &l->reader, err);
	} else {
		l->prog_fd = slot->common.prog->target->prog_fd;
		l->reader = slot->common.prog->target->reader;
	}
	return rc ? rc
		  : bb_trigger__attach(slot->common.state->fired, slot->common.prog, l->prog_fd,
				       &l->attached, err);
}

int bb_lines_slot__load(struct bb_lines_slot *slot, struct bb_err *err)
{
	const struct bb_lines_plan *plan = &slot->variant->plan;
	struct bb_lines_loaded *things = slot->things;
	struct bb_cut_form form = plan->form;
	int rc = attach_thing(slot, BB_LINES_PROGRAM, err);

	if (!rc)
		rc = bb_cut_clone__load(&plan->parts, &form, &things[BB_LINES_CLONE].prog_fd, err);
	form.doubled = true;
	if (!rc)
		rc = bb_cut_clone__load(&plan->parts, &form,
					&things[BB_LINES_DOUBLED_CLONE].prog_fd, err);
	if (!rc)
		rc = bb_load__empty(&plan->parts.code, form.retval, &things[BB_LINES_EMPTY].prog_fd,
				    err);
	for (enum bb_lines_thing i = BB_LINES_CLONE; !rc && i < BB_LINES_LOGGER; i++)
		rc = attach_thing(slot, i, err);
	return rc;
}

int bb_lines_slot__load_logger(struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_lines_loaded *l = &slot->things[BB_LINES_LOGGER];
	const struct bb_cut_form form = {.logs = true};
	int rc = bb_cut_clone__load(&slot->variant->plan.parts, &form, &l->prog_fd, err);

	return rc ? rc : attach_thing(slot, BB_LINES_LOGGER, err);
}

static void detach(void *slot)
{
	for (enum bb_lines_thing i = 0; i < BB_LINES_N_THINGS; i++)
		bb_lines_slot__unload(slot, i);
}

/* Loads all programs of a slot, and plans its variant if that was not done yet. Of the floor (the
 * empty program) only the program itself is loaded, because no report shows its lines. */
static int load_slot(struct bb_lines_slot *slot, struct bb_err *err)
{
	struct bb_lines_state *s = (struct bb_lines_state *)slot->common.state;
	const struct bb_test_prog *prog = slot->common.prog;
	const char *floor = s->common.spec->floor;
	struct bb_lines_variant *v = bb_lines_state__variant(s, prog->spec);

	for (int i = 0; i < BB_LINES_N_THINGS; i++)
		slot->things[i].prog_fd = -1;
	if (!v && floor && !strcmp(floor, prog->spec->name))
		return attach_thing(slot, BB_LINES_PROGRAM, err);
	if (!v) {
		v = bb_calloc(1, sizeof(*v));
		BB_PUSH(s->variants, s->n_variants, v);
		v->spec = prog->spec;
		v->plan.detail = BB_CUT_ALL;
	}
	slot->variant = v;
	int rc = bb_lines_plan__read(&v->plan, prog->target, err);
	if (!rc)
		rc = v->cases ? bb_lines_slot__load(slot, err) : bb_lines_variant__plan(slot, err);
	bb_lines_plan__forget(&v->plan);
	return rc;
}

/* Returns 0 if clones of the program can end early. Also plans the program's cuts and paths. */
static int probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_lines_slot slot = {.common = {state, prog}};

	if (prog->self_pid)
		return bb_fail(err, -ENOTSUP,
			       "two processes fire in turn here, and {pid: self} is one of them");
	int rc = load_slot(&slot, err);
	detach(&slot);
	return rc;
}

static int attach(void *slot_, struct bb_err *err)
{
	struct bb_lines_slot *slot = slot_;
	int rc = load_slot(slot, err);

	if (rc || !slot->variant)
		return rc;
	slot->load = slot->variant->cases->n_loads;
	for (size_t i = 0; i < slot->variant->n_cases; i++) {
		struct bb_lines_case *p = &slot->variant->cases[i];
		size_t had = (size_t)p->n_loads++ * p->n_items;

		bb_resize(&p->means, had + p->n_items, sizeof(*p->means));
		memset(p->means + had, 0, p->n_items * sizeof(*p->means));
	}
	return 0;
}

static void arm(const struct bb_lines_burst *burst)
{
	if (burst->nth == UINT64_MAX || burst->is_restoring)
		bb_cut_memory__end_nowhere(&burst->state->memory);
	else
		bb_cut_memory__end_at(&burst->state->memory, burst->nth, burst->is_bare);
}

static int begin(const struct bb_attached *, void *arg, struct bb_batch *)
{
	struct bb_lines_burst *burst = arg;

	burst->is_restoring = burst->restores;
	arm(burst);
	return bb_stats_reader__info(&burst->thing->reader, &burst->last);
}

/* The counters show it if a signal interrupts a firing, so the last argument is ignored. */
static int after(const struct bb_attached *a, void *arg, struct bb_batch *b, bool)
{
	struct bb_lines_burst *burst = arg;
	struct bb_prog_stats now, window;
	int rc = bb_stats_reader__info(&burst->thing->reader, &now);

	if (rc)
		return rc;
	int64_t ended_at = bb_cut_memory__ended_at(&burst->state->memory);
	bb_target__drain(a->target, !b->drain_each_run);
	window = bb_prog_stats__since(&now, &burst->last);
	burst->last = now;
	if (!burst->is_restoring && burst->warmed < b->warmup) {
		burst->warmed++;
	} else if (!burst->is_restoring) {
		b->fired++;
		if (window.run_cnt == a->runs_each && burst->ends_at >= -1 &&
		    ended_at != burst->ends_at) {
			burst->other_paths++;
			b->run_cnt += window.run_cnt;
			b->run_time_ns += window.run_time_ns;
		} else {
			bb_batch__take(b, window.run_cnt, window.run_time_ns, a->runs_each);
		}
	}
	burst->is_restoring = burst->restores && !burst->is_restoring;
	arm(burst);
	return b->fired >= b->want || bb_must_end();
}

int bb_lines_burst__fire(const struct bb_lines_state *s, const struct bb_lines_burst *burst,
			 uint32_t param, struct bb_err *err)
{
	const struct bb_instrument_part part = {begin, after, s->burst, .reads_counters = true};

	*s->burst = *burst;
	s->burst->state = s;
	s->burst->batch.ns = s->burst->ns;
	int rc = s->common.driver->trigger->fire(burst->thing->attached, param, &part,
						 &s->burst->batch, err);
	bb_cut_memory__end_nowhere(&s->memory);
	return rc == -EINTR || rc == -ETIME ? 0 : rc;
}

/* Returns the mean without the outliers below and above the median, or NAN if there are no samples.
 * A median would be too coarse: it is a multiple of the clock's tick. */
static double mean_of(const uint64_t *ns, size_t n)
{
	double x[BB_LINES_BURST], median, width, sum = 0;
	size_t k = 0;

	if (!n)
		return NAN;
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

/* Returns the item of the last measured cut. The last measured position is not a cut if it is the
 * end of the run. Then the position before it counts. */
static uint32_t last_cut(const struct bb_lines_case *p)
{
	uint32_t i = BB_LINES_ITEM_FIRST_CUT + p->path.n_measured - 1;

	return p->items[i].position < p->path.n ? i : i - 1;
}

static void keep_samples(struct bb_batch *b, const struct bb_lines_burst *burst)
{
	const struct bb_batch *of = &burst->batch;

	memcpy(&b->ns[b->n], burst->ns, of->n * sizeof(*of->ns));
	b->n += of->n;
	b->fired += of->fired;
	b->warmup += burst->warmed;
	b->run_cnt += of->run_cnt;
	b->run_time_ns += of->run_time_ns;
	b->multi += of->multi;
}

static int fire_floor(const struct bb_lines_state *s, struct bb_lines_slot *slot, uint32_t param,
		      size_t want, struct bb_batch *b, struct bb_err *err)
{
	const struct bb_lines_burst burst = {
		.thing = &slot->things[BB_LINES_PROGRAM],
		.nth = UINT64_MAX,
		.ends_at = -2,
		.batch = {.want = want,
			  .warmup = BB_LINES_WARMUP,
			  .drain_each_run = b->drain_each_run},
	};
	int rc = bb_lines_burst__fire(s, &burst, param, err);

	keep_samples(b, s->burst);
	return rc;
}

static int fire_item(const struct bb_lines_state *s, struct bb_lines_slot *slot,
		     struct bb_lines_case *p, uint32_t i, size_t want, struct bb_batch *b,
		     struct bb_err *err)
{
	const struct bb_lines_item *it = &p->items[i];
	bool ends = it->position < p->path.n;
	const struct bb_lines_burst burst = {
		.thing = &slot->things[it->thing],
		.nth = ends ? it->position : UINT64_MAX,
		.ends_at = ends ? (int64_t)p->path.cuts[it->position] : -1,
		.is_bare = it->is_bare,
		.restores = ends && slot->variant->plan.removes,
		.batch = {.want = want,
			  .warmup = BB_LINES_WARMUP,
			  .drain_each_run = b->drain_each_run},
	};
	int rc = bb_lines_burst__fire(s, &burst, p->param, err);
	struct bb_lines_means *means;

	if (it->thing == BB_LINES_PROGRAM) {
		keep_samples(b, s->burst);
	} else if (i == last_cut(p)) {
		p->runs += s->burst->batch.n;
		p->other_paths += s->burst->other_paths;
	}
	if (rc)
		return rc;
	means = &p->means[(size_t)slot->load * p->n_items + i];
	BB_PUSH(means->v, means->n, mean_of(s->burst->ns, s->burst->batch.n));
	return 0;
}

static int fire_all(struct bb_lines_state *s, struct bb_lines_slot *slot, struct bb_lines_case *p,
		    size_t want, struct bb_batch *b, struct bb_err *err)
{
	uint32_t *order = bb_calloc(p->n_items, sizeof(*order));
	int rc = 0;

	for (uint32_t i = 0; i < p->n_items; i++)
		order[i] = i;
	/* the program comes first, so that a batch that must end early still has samples */
	bb_rng_shuffle(&s->common.rng, order + 1, p->n_items - 1);
	for (uint32_t i = 0; !rc && i < p->n_items && !bb_must_end(); i++) {
		bb_give_way();
		rc = fire_item(s, slot, p, order[i], want, b, err);
	}
	free(order);
	return rc;
}

static int batch(void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	struct bb_lines_slot *slot = slot_;
	struct bb_lines_state *s = (struct bb_lines_state *)slot->common.state;
	struct bb_lines_variant *v = slot->variant;
	struct bb_lines_case *p = v ? BB_FIND(v->cases, v->n_cases, it->param == param) : NULL;
	size_t want = b->want < BB_LINES_BURST ? b->want : BB_LINES_BURST;

	b->warmup = 0;
	if (v && !p)
		return bb_fail(err, -EINVAL, "'%s' was not planned with parameter %u",
			       slot->common.prog->target->program, param);
	memset(b->ns, 0, b->want * sizeof(*b->ns));
	int rc = v ? fire_all(s, slot, p, want, b, err) : fire_floor(s, slot, param, want, b, err);
	rc = bb_batch__void_if_gone(b, rc, err);
	return rc ? rc : bb_stop_signal ? -EINTR : 0;
}

static void close_lines(void *state)
{
	struct bb_lines_state *s = state;

	for (size_t i = 0; i < s->n_variants; i++) {
		bb_lines_variant__done(s->variants[i]);
		bb_lines_plan__forget(&s->variants[i]->plan);
		bb_cuts__done(&s->variants[i]->plan.parts.cuts);
		free(s->variants[i]);
	}
	free(s->variants);
	if (s->burst) {
		bb_shared_memory__close(&s->memory);
		munmap(s->burst, sizeof(*s->burst));
	}
}

static int open_lines(void *state, struct bb_err *err)
{
	struct bb_lines_state *s = state;

	s->burst = bb_map_pages(sizeof(*s->burst), MAP_SHARED);
	s->memory.fd = -1;
	return bb_cut_memory__open(&s->memory, err);
}

const struct bb_driver bb_driver_lines = {
	.kind.with = "lines",
	.kind.doc = "time every line and call of a run, by a clone of the program that "
		    "can end at each of them",
	.kind.pace = {.samples = 17000, .turn = BB_LINES_BURST, .sample_s = 2e-4},
	.kind.cold_name = "lines-cold",
	.kind.cold = {.samples = 480, .turn = BB_LINES_BURST / 2, .sample_s = 40 * BB_COLD_GUESS_S},
	.kind.sample = BB_SAMPLE_RUN,
	.kind.needs_bpf = true,
	.kind.one_by_one = true,
	.kind.by_line = true,
	.is_instrument = true,
	.state_bytes = sizeof(struct bb_lines_state),
	.slot_bytes = sizeof(struct bb_lines_slot),
	.open = open_lines,
	.probe = probe,
	.attach = attach,
	.batch = batch,
	.detach = detach,
	.close = close_lines,
};
