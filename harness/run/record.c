/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/record.h"

#include "base/deadline.h"
#include "base/give_way.h"
#include "base/text.h"
#include "drivers/test_run_types.h"
#include "env/checks.h"
#include "plan/mix.h"

/* distinct values that a new series has memory for (few series need more) */
#define DISTINCT 32u

static bool same_globals(const struct bb_variant_spec *a, const struct bb_variant_spec *b)
{
	bool same = a->n_globals == b->n_globals;

	for (size_t i = 0; same && i < a->n_globals; i++)
		same = !strcmp(a->globals[i].name, b->globals[i].name) &&
		       a->globals[i].value == b->globals[i].value &&
		       a->globals[i].self == b->globals[i].self;
	return same;
}

static const struct bb_map_spec *find_per_cpu(const struct bb_map_spec *v, size_t n)
{
	return BB_FIND(v, n, it->shape.per_cpu);
}

static size_t n_entries(const struct bb_variant_spec *v, const char *map)
{
	const struct bb_map_spec *spec = bb_map_specs__find(&v->maps, map);

	return spec ? spec->n_entries + spec->fill.count : 0;
}

static bool same_entries(const struct bb_variant_spec *a, const struct bb_variant_spec *b)
{
	return !BB_ANY(a->maps.v, a->maps.n, n_entries(a, it->name) != n_entries(b, it->name));
}

/* Looks for a variant that differs from `v` only in one map, which has one value for all CPUs
 * there. Stores the variant's and the map's names in the case. */
static void note_per_cpu(const struct bb_scenario *sc, const struct bb_variant_spec *v,
			 struct bb_case *k)
{
	const struct bb_map_spec *map = find_per_cpu(v->maps.v, v->maps.n);

	if (!map || find_per_cpu(map + 1, (size_t)(v->maps.v + v->maps.n - map - 1)))
		return;
	const struct bb_variant_spec *of =
		BB_FIND(sc->variants, sc->n_variants,
			bb_same_text(it->program, v->program) &&
				bb_same_text(it->object, v->object) && same_globals(it, v) &&
				same_entries(it, v) && same_entries(v, it) &&
				!find_per_cpu(it->maps.v, it->maps.n));
	if (!of)
		return;
	k->per_cpu_of = bb_strdup(of->name);
	k->per_cpu_map = bb_strdup(map->name);
}

void bb_record__case(struct bb_report *report, const struct bb_plan *plan,
		     const struct bb_plan_case *planned, const char *variant, size_t *ret_index)
{
	const struct bb_scenario *sc = plan->scenario;
	const char *anchor = sc->anchor ? sc->anchor : planned->drive->floor;
	uint32_t units_per_ns = planned->drive->kind->units_per_ns;
	struct bb_case *k = BB_ADD(bb_case_record, report, cases);
	const struct bb_input *input = planned->input;
	double weights = 0;

	variant = variant ? variant : planned->variant->name;
	k->name = bb_asprintf("%s/%s/%s", sc->name, variant, bb_plan_case__below_variant(planned));
	k->scenario = bb_strdup(sc->name);
	k->variant = bb_strdup(variant);
	k->drive = bb_strdup(bb_drive_name(planned->drive));
	k->param = planned->param ? bb_strdup(planned->param) : NULL;
	k->param_text = planned->param ? bb_strdup(planned->name + planned->value) : NULL;
	k->param_value = planned->param_value;
	for (size_t i = 0; i < planned->drive->inputs.n; i++)
		weights += planned->drive->inputs.v[i].weight;
	k->path_share = input && input->weight > 0 ? input->weight / weights : NAN;
	k->is_live = bb_variant_is_live(planned->variant);
	k->found = planned->variant->found;
	if (planned->drive->kind->fills & BB_FILLS_THROUGHPUT)
		note_per_cpu(sc, planned->variant, k);
	const struct bb_drive_spec *each = NULL;
	if (planned->drive->same_input)
		each = bb_scenario__each_input(sc, planned->drive, planned->param_value);
	k->each_input_in = each ? bb_strdup(bb_drive_name(each)) : NULL;
	k->units_per_ns = units_per_ns ? units_per_ns : 1;
	k->floor = BB_NO_FLOOR;
	k->is_anchor = anchor && !strcmp(anchor, planned->variant->name);
	*ret_index = report->n_cases - 1;
}

void bb_record__fired_by(struct bb_case *c, const struct bb_driver *driver,
			 const struct bb_plan_case *planned, const struct bb_test_prog *prog)
{
	char words[600] = "";

	if (planned->drive->order && driver->trigger)
		bb_mix__words(&planned->drive->inputs, planned->drive->order, words, sizeof(words));
	else if (driver->fired_by)
		driver->fired_by(planned->input, prog, words, sizeof(words));
	if (words[0])
		c->fired_by = bb_strdup(words);
}

struct bb_program *bb_record__facts(struct bb_report *report, const char *scenario,
				    const char *variant, const struct bb_prog_facts *facts)
{
	struct bb_program *p = BB_ADD(bb_program_record, report, programs);

	p->name = bb_asprintf("%s/%s", scenario, variant);
	p->scenario = bb_strdup(scenario);
	p->variant = bb_strdup(variant);
	p->type = bb_strdup(facts->type);
	p->tag = bb_strdup(facts->tag);
	p->metrics = facts->metrics;
	return p;
}

int bb_record__program(struct bb_report *report, const struct bb_scenario *scenario,
		       const struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_variant_spec *v = prog->spec;
	struct bb_prog_facts facts;
	int rc = bb_target__describe(prog->target, &facts, err);

	if (rc)
		return rc;
	struct bb_program *p = bb_record__facts(report, scenario->name, v->name, &facts);
	p->program = bb_strdup(prog->target->program);
	p->object = bb_strdup(v->pinned   ? v->pinned
			      : v->id     ? "(loaded already)"
			      : v->object ? v->object
					  : scenario->object);
	p->has_ring = bb_target__ring(prog->target) != NULL;
	return 0;
}

struct bb_series *bb_record__series(struct bb_case *c, uint32_t load, int jit_mod64)
{
	struct bb_series *s = BB_ADD(bb_series_record, c, series);

	bb_hist_reserve(&s->hist, DISTINCT);
	s->load = load;
	s->jit_mod64 = jit_mod64;
	s->target_cpu_s = s->steal = NAN;
	s->elapsed_s = 0;
	return s;
}

/* The runs of a class have the same return value and path. */
static struct bb_class *class_of(struct bb_series *s, const struct bb_batch *b, size_t nth)
{
	const struct bb_mix_paths *p = b->mix_paths;
	const char *path = NULL; /* stays NULL if the path is unknown */
	uint32_t value = b->returns[nth];

	if (p && b->places[nth] < p->n_places) {
		uint8_t of = p->path_of[b->places[nth]];

		path = of < BB_MIX_MOST_PATHS ? p->words[of] : "another";
	}
	struct bb_class *c = BB_FIND(s->classes, s->n_classes,
				     it->value == value && bb_same_text(it->path, path));
	if (c)
		return c;
	c = BB_ADD(bb_class_record, s, classes);
	c->value = value;
	c->returned = bb_strdup(bb_test_run_type__retval(b->run_type, value).text);
	c->path = path ? bb_strdup(path) : NULL;
	return c;
}

/* Adds the figures of a batch to its series. The series then owns b->flow. */
static void take_batch(struct bb_series *s, struct bb_batch *b)
{
	const struct {
		double *of_series, of_batch;
	} averages[] = {
		{&s->slope.intercept_ns, b->slope.intercept_ns},
		{&s->floor_ns, b->floor_ns},
		{&s->line_ns, b->line_ns},
		{&s->slope.cycles, b->slope.pmu[BB_PMU_CYCLES]},
		{&s->slope.instructions, b->slope.pmu[BB_PMU_INSTRUCTIONS]},
		{&s->slope.llc_misses, b->slope.pmu[BB_PMU_LLC_MISSES]},
	};
	double before = (double)s->hist.n, more = (double)b->n;

	/* averages series and batch, weighted by their numbers of samples */
	for (size_t i = 0; more > 0 && i < BB_LEN(averages); i++) {
		double *x = averages[i].of_series;

		if (!isnan(averages[i].of_batch))
			*x = ((isnan(*x) ? 0 : *x * before) + averages[i].of_batch * more) /
			     (before + more);
	}
	/* adds up the counts in `flow`, but keeps only the points of the first batch */
	if (s->flow && b->flow) {
		s->flow->consumed += b->flow->consumed;
		s->flow->waiting += b->flow->waiting;
		s->flow->consumer_cpu_s += b->flow->consumer_cpu_s;
		free(b->flow);
	} else if (b->flow) {
		s->flow = b->flow;
	}
	b->flow = NULL;
	for (size_t i = 0; i < b->n; i++)
		bb_hist_add(&s->hist, b->ns[i], 1);
	for (size_t i = 0; b->returns && b->run_type && i < b->n; i++)
		bb_hist_add(&class_of(s, b, i)->hist, b->ns[i], 1);
	s->fired += b->fired;
	s->retries += b->retries;
	s->run_cnt += b->run_cnt;
	s->run_time_ns += b->run_time_ns;
	s->warmup += b->warmup;
	s->events += b->events;
	s->multi += b->multi;
	s->elapsed_s += b->elapsed_s;
	if (!isnan(b->target_cpu_s))
		s->target_cpu_s = (isnan(s->target_cpu_s) ? 0 : s->target_cpu_s) + b->target_cpu_s;
}

void bb_record__void(struct bb_series *s, const char *fmt, ...)
{
	va_list ap;

	if (s->void_why)
		return;
	va_start(ap, fmt);
	bb_add_text(&s->void_why, "", fmt, ap);
	va_end(ap);
}

static int drops_of(const struct bb_test_prog *prog, uint64_t *ret_drops)
{
	*ret_drops = 0;
	return prog->target ? bb_target__drops(prog->target, ret_drops) : 0;
}

bool bb_record__all_ran(const struct bb_test_prog *prog, uint64_t ran, uint64_t fired)
{
	return bb_variant_is_live(prog->spec) ? ran >= fired : ran == fired;
}

int bb_record__attach(struct bb_drive_state *state, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err)
{
	int rc = bb_unless_broken_off(bb_driver__attach(state, prog, ret_slot, err));

	return rc || !prog->target
		       ? rc
		       : bb_stats_reader__agreed(&prog->target->reader, &(*ret_slot)->before, err);
}

void bb_record__check(const struct bb_drive_slot *slot, uint64_t *ret_misses, char *ret_why,
		      size_t size)
{
	const struct bb_driver *driver = slot->state->driver;
	const struct bb_test_prog *prog = slot->prog;
	const struct bb_prog_stats *before = &slot->before;
	struct bb_prog_stats after = *before;
	struct bb_err err = {0};
	char who[96] = "";

	if (prog->target)
		bb_stats_reader__agreed(&prog->target->reader, &after, &err);
	*ret_misses = after.recursion_misses - before->recursion_misses;
	uint64_t ran = after.run_cnt - before->run_cnt;
	ret_why[0] = '\0';
	if (err.code)
		snprintf(ret_why, size, "the two readings of the counters disagree: %.200s",
			 err.msg);
	else if (driver->kind.stats_off && ran)
		snprintf(ret_why, size,
			 "another process has bpf_stats on (%s%llu runs were counted while ours "
			 "was off), which adds to every run",
			 bb_find_stats_holder(who, sizeof(who)) ? strcat(who, ": ") : "",
			 (unsigned long long)ran);
	else if (driver->kind.fires && !driver->kind.stats_off && prog->target &&
		 !bb_record__all_ran(prog, ran, slot->n_fired))
		snprintf(ret_why, size, "run_cnt rose by %llu, %llu events were fired",
			 (unsigned long long)ran, (unsigned long long)slot->n_fired);
	else if (*ret_misses && !driver->kind.shares_events && !bb_variant_is_live(prog->spec))
		snprintf(ret_why, size, "%llu runs were missed (recursion)",
			 (unsigned long long)*ret_misses);
}

int bb_record__measure(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		       struct bb_series *s, struct bb_err *err)
{
	uint64_t before, after;
	int rc = drops_of(slot->prog, &before);

	bb_give_way();
	b->slope.intercept_ns = b->floor_ns = b->line_ns = NAN;
	for (size_t i = 0; i < BB_PMU_COUNTERS; i++)
		b->slope.pmu[i] = NAN;
	if (slot->state->spec->order && slot->state->driver->trigger)
		b->returns = bb_calloc(2 * b->want, sizeof(*b->returns));
	b->places = b->returns ? b->returns + b->want : NULL;
	if (!rc)
		rc = bb_unless_broken_off(bb_driver__batch(slot, param, b, err));
	if (rc == -ETIME) /* not an error: the samples taken before the time was over are kept */
		rc = 0;
	slot->n_fired += b->fired + b->warmup;
	take_batch(s, b); /* also after an error, to keep the samples taken before it */
	free(b->returns);
	b->returns = b->places = NULL;
	if (b->void_why[0])
		bb_record__void(s, "%s", b->void_why);
	if (!rc)
		rc = drops_of(slot->prog, &after);
	if (!rc)
		s->drops += after - before;
	return rc;
}

void bb_record__skip(struct bb_report *report, const char *why, const char *fmt, ...)
{
	char what[600];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	bb_report__add_skip(report, what, why);
}

int bb_record__incomplete(struct bb_report *report, int rc, struct bb_err *err)
{
	if (rc == -EINTR && bb_stop_signal)
		bb_fail_stopped(err, "", "");
	else if (!err->code)
		bb_fail(err, rc, "%m");
	if (!report->incomplete)
		report->incomplete = bb_strdup(err->msg);
	return rc;
}
