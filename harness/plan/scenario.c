/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/scenario.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "core/metric.h"
#include "plan/field.h"
#include "plan/input_field.h"
#include "plan/kind.h"
#include "plan/map_field.h"
#include "plan/yaml.h"

/*
 * The schema is the tables further down: a key of a scenario is one row. The readers above them are
 * for the keys whose values have a structure of their own.
 */
#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

enum { STEP, SLOPE, IN_SITU, LIVE, EXACT, PIPELINE, SLOWDOWN, CALL, FAKE };
enum { PAGE_FAULT, TEST_RUN };
enum { CPU_CLOCK, TASK_CLOCK, PACKETS, HTTP, ATTACH };

static const char *const drivers[] = {
	[STEP] = "step",         [SLOPE] = "slope", [IN_SITU] = "in-situ",
	[LIVE] = "live",         [EXACT] = "exact", [PIPELINE] = "pipeline",
	[SLOWDOWN] = "slowdown", [CALL] = "call",   [FAKE] = "fake",
};
static const char *const triggers[] = {[PAGE_FAULT] = "page-fault", [TEST_RUN] = "test-run"};
static const char *const insides[] = {"amicable_pairs"};
static const char *const events[] = {
	[CPU_CLOCK] = "cpu-clock", [TASK_CLOCK] = "task-clock", [PACKETS] = "packets",
	[HTTP] = "http",           [ATTACH] = "attach",
};
static const char *const functions[] = {"process_sample", "source_addr"};
static const char *const consumers[] =
	{[BB_CONSUMER_CAUGHT_UP] = "caught-up", [BB_CONSUMER_BEHIND] = "behind"};

static const char *const all_caches[] = {[BB_CACHES_HOT] = "hot", [BB_CACHES_COLD] = "cold"};

/* whether a program that the kernel refuses is skipped, by what is chosen */
static const char *const refusals[] = {[false] = "error", [true] = "skip"};

static const char *const samplers[] = {"program", "none", "perf-record", "profile"};
/* the first of both is the default */
static const char *const readers[] = {"fixed", "oops", "none"};

static const uint32_t default_stack_depth = 8;
static const uint32_t default_freq_hz = 100;
static const uint32_t default_packets_hz = 1000;
static const uint32_t default_http_hz = 50;

/* The drives that have keys of their own: the drivers, step by its trigger and in-situ by its
 * event. (Exact has the keys of step.) */
enum {
	BY_FAULT,
	BY_TEST_RUN,
	BY_SLOPE,
	BY_SAMPLING,
	BY_PACKETS,
	BY_HTTP,
	BY_ATTACH,
	BY_OTHERS,
	BY_PIPELINE,
	BY_SLOWDOWN,
	BY_CALL,
	BY_FAKE,
};

static const struct bb_mode modes[] = {
	[BY_FAULT] = {"with: step", "step by page-fault"},
	[BY_TEST_RUN] = {"trigger: test-run", "step by test-run"},
	[BY_SLOPE] = {"with: slope", "slope"},
	[BY_SAMPLING] = {"with: in-situ", "in-situ"},
	[BY_OTHERS] = {"with: live", "live"},
	[BY_PACKETS] = {"event: packets", "in-situ by packets"},
	[BY_HTTP] = {"event: http", "in-situ by http"},
	[BY_ATTACH] = {"event: attach", "in-situ by attach"},
	[BY_PIPELINE] = {"with: pipeline", "pipeline"},
	[BY_SLOWDOWN] = {"with: slowdown", "slowdown"},
	[BY_CALL] = {"with: call", "call"},
	[BY_FAKE] = {"with: fake", "fake"},
};

/* What tells drives in situ apart in the names of cases. */
static const char *const event_names[ARRAY_LEN(modes)] = {
	[BY_PACKETS] = "in-situ-packets",
	[BY_HTTP] = "in-situ-http",
	[BY_ATTACH] = "in-situ-attach",
};

static const struct bb_kind variant_kind, drive_kind, expect_kind;

static int read_consumer(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, void *base)
{
	struct bb_drive_spec *drive = base;
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		drive->consumer = (enum bb_consumer)i;
	return rc;
}

static int read_refused(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	struct bb_scenario *scenario = base;
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		scenario->skips_refused = i;
	return rc;
}

static int read_caches(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_drive_spec *drive = base;
	size_t i = 0;
	int rc = bb_field__choose(r, f, node, &i);

	if (!rc)
		drive->caches = (enum bb_caches)i;
	return rc;
}

/* A list of texts into a member that is empty yet; `item` is what each is called. */
static int read_texts(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, const char *item, char ***dest, size_t *n)
{
	int rc = bb_field__check_list(r, f, node, "texts");

	if (rc)
		return rc;
	*dest = calloc(node->n, sizeof(**dest));
	if (!*dest)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *text = &node->items[i];

		if (text->kind != BB_YAML_TEXT || bb_yaml__is_nothing(text))
			return bb_yaml__fail(r->path, text, r->err, "%s must be a text, not %s",
					     item, bb_yaml__show(text).text);
		rc = bb_field__set_text(r, &(*dest)[*n], text->text);
		if (rc)
			return rc;
		++*n;
	}
	return 0;
}

static int read_args(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	struct bb_drive_spec *drive = base;

	return read_texts(r, f, node, "an argument", &drive->args, &drive->n_args);
}

static int read_driven(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_drive_spec *drive = base;

	return read_texts(r, f, node, "a variant's name", &drive->variants, &drive->n_variants);
}

static int read_global(const struct bb_reader *r, const struct bb_yaml *key,
		       const struct bb_yaml *node, struct bb_global_spec *global)
{
	int truth, rc = -EINVAL;

	global->where = (struct bb_where){.line = key->line, .col = key->col};
	if (!*key->text)
		return bb_yaml__fail(r->path, key, r->err, "a global needs a name");
	if (node->kind == BB_YAML_TEXT && !node->quoted) {
		rc = bb_parse_i64(node->text, &global->value);
		if (rc == -EINVAL) {
			rc = bb_parse_bool(node->text, &truth);
			global->value = rc ? 0 : truth;
		}
	}
	if (rc == -ERANGE)
		return bb_yaml__fail(r->path, node, r->err,
				     "global %s does not fit into 64 bits: %s",
				     bb_yaml__show(key).text, bb_yaml__show(node).text);
	if (rc)
		return bb_yaml__fail(r->path, node, r->err,
				     "global %s must be a whole number, true or false, not %s%s",
				     bb_yaml__show(key).text,
				     node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	return bb_field__set_text(r, &global->name, key->text);
}

static int read_globals(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	struct bb_variant_spec *variant = base;

	if (node->kind != BB_YAML_MAP)
		return bb_yaml__fail(r->path, node, r->err,
				     "%s must be a mapping such as {name: 5}, not %s", f->name,
				     bb_yaml__show(node).text);
	if (!node->n)
		return bb_yaml__fail(r->path, node, r->err, "%s must not be an empty mapping",
				     f->name);
	variant->globals = calloc(node->n, sizeof(*variant->globals));
	if (!variant->globals)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n; i++) {
		int rc = read_global(r, &node->items[2 * i], &node->items[2 * i + 1],
				     &variant->globals[variant->n_globals++]);

		if (rc)
			return rc;
	}
	return 0;
}

/* A program that is loaded already is what it is: nothing that says how to load one may stand
 * beside it. */
static int check_live(const struct bb_reader *r, const struct bb_yaml *node,
		      const struct bb_variant_spec *v)
{
	static const char *const for_loading[] = {"program", "object", "globals", "maps"};

	if (v->id && v->pinned)
		return bb_yaml__fail(r->path, node, r->err,
				     "variant '%s' has an id and a pin; one of them says which "
				     "program it is",
				     v->name);
	for (size_t i = 0; bb_variant_is_live(v) && i < ARRAY_LEN(for_loading); i++)
		if (bb_yaml__get(node, for_loading[i]))
			return bb_yaml__fail(r->path, bb_yaml__get(node, for_loading[i]), r->err,
					     "key '%s' is for programs to be loaded; variant '%s' "
					     "is loaded already, by %s",
					     for_loading[i], v->name, v->id ? "its id" : "its pin");
	return 0;
}

static int read_variant(const struct bb_reader *r, const struct bb_yaml *node,
			struct bb_scenario *s)
{
	struct bb_variant_spec *v = &s->variants[s->n_variants++];
	const struct bb_variant_spec *first;
	int rc;

	v->where = (struct bb_where){.line = node->line, .col = node->col};
	rc = bb_kind__read(r, &variant_kind, node, 0, v);
	if (rc)
		return rc;
	first = bb_scenario__variant(s, v->name);
	if (first != v)
		return bb_yaml__fail(r->path, bb_yaml__get(node, "name"), r->err,
				     "variant '%s' is given twice; the first is at %u:%u", v->name,
				     first->where.line, first->where.col);
	rc = check_live(r, node, v);
	rc = rc || v->program ? rc : bb_field__set_text(r, &v->program, v->name);
	rc = rc || v->consumer ? rc : bb_field__set_text(r, &v->consumer, readers[0]);
	return rc || v->sampler ? rc : bb_field__set_text(r, &v->sampler, samplers[0]);
}

static int read_variants(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, void *base)
{
	struct bb_scenario *s = base;
	int rc = bb_field__check_list(r, f, node, "variants");

	if (rc)
		return rc;
	s->variants = calloc(node->n, sizeof(*s->variants));
	if (!s->variants)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n && !rc; i++)
		rc = read_variant(r, &node->items[i], s);
	return rc;
}

static int set_drive_defaults(const struct bb_reader *r, unsigned int mode, struct bb_drive_spec *d)
{
	int rc = bb_field__set_text(r, &d->trigger, triggers[PAGE_FAULT]);

	rc = rc ? rc : bb_field__set_text(r, &d->inside, insides[0]);
	rc = rc ? rc : bb_field__set_text(r, &d->event, events[0]);
	d->event_name = event_names[mode];
	if (!rc && mode == BY_PACKETS)
		rc = bb_field__set_list(r, &d->rate_hz, &default_packets_hz, 1);
	if (!rc && mode == BY_HTTP)
		rc = bb_field__set_list(r, &d->rate_hz, &default_http_hz, 1);
	/* which have no stack to go down */
	if (!rc && mode != BY_TEST_RUN && mode != BY_SLOPE && mode != BY_OTHERS)
		rc = bb_field__set_list(r, &d->stack_depth, &default_stack_depth, 1);
	if (!rc && (mode == BY_SAMPLING || mode == BY_PIPELINE || mode == BY_SLOWDOWN))
		rc = bb_field__set_list(r, &d->freq_hz, &default_freq_hz, 1);
	return rc;
}

/* Which drive it is, from `with` and `trigger` or `event`, wherever they stand: it says which other
 * keys there are. */
static int find_mode(const struct bb_reader *r, const struct bb_yaml *node, unsigned int *ret_mode)
{
	static const struct bb_field with = {.name = "with",
					     .choices = drivers,
					     .n_choices = ARRAY_LEN(drivers)};
	static const struct bb_field by = {.name = "trigger",
					   .choices = triggers,
					   .n_choices = ARRAY_LEN(triggers)};
	static const struct bb_field on = {.name = "event",
					   .choices = events,
					   .n_choices = ARRAY_LEN(events)};
	static const struct bb_field clock = {.name = "event",
					      .choices = events,
					      .n_choices = TASK_CLOCK + 1};
	static const unsigned int mode_of[] = {
		[STEP] = BY_FAULT,  [SLOPE] = BY_SLOPE,       [LIVE] = BY_OTHERS,
		[EXACT] = BY_FAULT, [PIPELINE] = BY_PIPELINE, [SLOWDOWN] = BY_SLOWDOWN,
		[CALL] = BY_CALL,   [FAKE] = BY_FAKE,
	};
	static const unsigned int mode_of_event[] = {
		[CPU_CLOCK] = BY_SAMPLING, [TASK_CLOCK] = BY_SAMPLING, [PACKETS] = BY_PACKETS,
		[HTTP] = BY_HTTP,          [ATTACH] = BY_ATTACH,
	};
	const struct bb_yaml *driver = bb_yaml__get(node, "with"),
			     *trigger = bb_yaml__get(node, "trigger");
	const struct bb_yaml *event = bb_yaml__get(node, "event");
	size_t i = 0, t = PAGE_FAULT, e = CPU_CLOCK;
	int rc;

	if (!driver)
		return bb_yaml__fail(r->path, node, r->err,
				     "a drive needs the key 'with', one of: %s",
				     bb_phrase__join(drivers, ARRAY_LEN(drivers)).text);
	rc = bb_field__choose(r, &with, driver, &i);
	if (!rc && trigger && (i == STEP || i == EXACT))
		rc = bb_field__choose(r, &by, trigger, &t);
	if (!rc && event && i == IN_SITU)
		rc = bb_field__choose(r, &on, event, &e);
	if (!rc && event && i == PIPELINE)
		rc = bb_field__choose(r, &clock, event, &e);
	if (!rc)
		*ret_mode = t == TEST_RUN  ? BY_TEST_RUN
			    : i == IN_SITU ? mode_of_event[e]
					   : mode_of[i];
	return rc;
}

static int read_drive(const struct bb_reader *r, const struct bb_yaml *node,
		      struct bb_drive_spec *d)
{
	unsigned int mode = 0;
	int rc = node->kind == BB_YAML_MAP ? find_mode(r, node, &mode) : 0;

	d->where = (struct bb_where){.line = node->line, .col = node->col};
	if (!rc)
		rc = set_drive_defaults(r, mode, d);
	return rc ? rc : bb_kind__read(r, &drive_kind, node, BB_BIT(mode), d);
}

static int read_drives(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	struct bb_scenario *s = base;
	int rc = bb_field__check_list(r, f, node, "mappings such as {with: step}");

	if (rc)
		return rc;
	s->drives = calloc(node->n, sizeof(*s->drives));
	if (!s->drives)
		return bb_fail_nomem(r->err);
	for (size_t i = 0; i < node->n && !rc; i++)
		rc = read_drive(r, &node->items[i], &s->drives[s->n_drives++]);
	return rc;
}

static int read_expect(const struct bb_reader *r, const struct bb_field *f,
		       const struct bb_yaml *node, void *base)
{
	(void)f;
	return bb_kind__read(r, &expect_kind, node, 0, base);
}

#define AT(type, m) .offset = offsetof(struct type, m)
#define IN(mode) BB_BIT(BY_##mode)
#define IN_SITU_ALL (IN(SAMPLING) | IN(PACKETS) | IN(HTTP) | IN(ATTACH))
#define BY_CLOCK (IN(SAMPLING) | IN(PIPELINE) | IN(SLOWDOWN)) /* a workload is sampled */
#define CHOICE(table) .choices = (table), .n_choices = ARRAY_LEN(table)

static const struct bb_field scenario_fields[] = {
	{"name", bb_field__name, AT(bb_scenario, name), .required = true},
	{"description", bb_field__text, AT(bb_scenario, description)},
	{"object", bb_field__text, AT(bb_scenario, object)},
	{"floor", bb_field__text, AT(bb_scenario, floor)},
	{"anchor", bb_field__text, AT(bb_scenario, anchor)},
	{"loads", bb_field__u32, AT(bb_scenario, loads), .min = 1, .max = 10000},
	{"refused", read_refused, AT(bb_scenario, skips_refused), CHOICE(refusals)},
	{"variants", read_variants, AT(bb_scenario, variants), .required = true},
	{"maps", bb_field__maps, AT(bb_scenario, maps)},
	{"drive", read_drives, AT(bb_scenario, drives), .required = true},
	{"expect", read_expect, AT(bb_scenario, expect_drops)},
};

static const struct bb_field variant_fields[] = {
	{"name", bb_field__name, AT(bb_variant_spec, name), .required = true},
	{"program", bb_field__text, AT(bb_variant_spec, program)},
	{"object", bb_field__text, AT(bb_variant_spec, object)},
	{"id", bb_field__u32, AT(bb_variant_spec, id), .min = 1, .max = UINT32_MAX},
	{"pinned", bb_field__text, AT(bb_variant_spec, pinned)},
	{"description", bb_field__text, AT(bb_variant_spec, description)},
	{"globals", read_globals, AT(bb_variant_spec, globals)},
	{"maps", bb_field__maps, AT(bb_variant_spec, maps)},
	{"consumer", bb_field__choice, AT(bb_variant_spec, consumer), CHOICE(readers)},
	{"sampler", bb_field__choice, AT(bb_variant_spec, sampler), CHOICE(samplers)},
};

static const struct bb_field drive_fields[] = {
	{"with", bb_field__choice, AT(bb_drive_spec, with), .required = true, CHOICE(drivers)},
	{"trigger", bb_field__choice, AT(bb_drive_spec, trigger), IN(FAULT) | IN(TEST_RUN),
	 CHOICE(triggers)},
	{"inside", bb_field__choice, AT(bb_drive_spec, inside), IN(FAULT), CHOICE(insides)},
	{"stack_depth", bb_field__u32_list, AT(bb_drive_spec, stack_depth), IN(FAULT), .min = 1,
	 .max = 127},
	{"consumer", read_consumer, AT(bb_drive_spec, consumer), IN(FAULT), CHOICE(consumers)},
	{"caches", read_caches, AT(bb_drive_spec, caches), IN(FAULT) | IN(TEST_RUN),
	 CHOICE(all_caches)},
	{"inputs", bb_field__inputs, AT(bb_drive_spec, inputs),
	 IN(TEST_RUN) | IN(SLOPE) | IN(PACKETS)},
	{"repeat", bb_field__u32, AT(bb_drive_spec, repeat), IN(SLOPE), .min = 8, .max = 1000000},
	{"event", bb_field__choice, AT(bb_drive_spec, event), IN_SITU_ALL | IN(PIPELINE),
	 CHOICE(events)},
	{"workload", bb_field__text, AT(bb_drive_spec, workload), BY_CLOCK | IN(ATTACH),
	 .required = true},
	{"args", read_args, AT(bb_drive_spec, args), BY_CLOCK | IN(ATTACH)},
	{"freq_hz", bb_field__u32_list, AT(bb_drive_spec, freq_hz), BY_CLOCK, .min = 1,
	 .max = 100000},
	{"rate_hz", bb_field__u32_list, AT(bb_drive_spec, rate_hz), IN(PACKETS) | IN(HTTP),
	 .min = 1, .max = 100000},
	{"seconds", bb_field__double, AT(bb_drive_spec, seconds),
	 IN_SITU_ALL | IN(OTHERS) | IN(PIPELINE) | IN(SLOWDOWN) | IN(CALL), .min = 0.01,
	 .max = 86400},
	{"function", bb_field__choice, AT(bb_drive_spec, function), IN(CALL), .required = true,
	 CHOICE(functions)},
	{"samples", bb_field__u32, AT(bb_drive_spec, samples),
	 IN(FAULT) | IN(TEST_RUN) | IN(SLOPE) | IN(FAKE), .min = 1, .max = 100000000},
	{"variants", read_driven, AT(bb_drive_spec, variants)},
	{"floor", bb_field__text, AT(bb_drive_spec, floor)},
};

static const struct bb_field expect_fields[] = {
	{"drops", bb_field__int, AT(bb_scenario, expect_drops), .required = true, .min = 0,
	 .max = INT_MAX},
};

static const struct bb_kind scenario_kind = {
	BB_KIND("a scenario", "'name: perf_profiler'", scenario_fields)};
static const struct bb_kind variant_kind = {
	BB_KIND("a variant", "{name: ringbuf}", variant_fields)};
static const struct bb_kind drive_kind = {BB_KIND("a drive", "{with: step}", drive_fields),
					  BB_MODES(modes)};
static const struct bb_kind expect_kind = {BB_KIND("expect", "{drops: 0}", expect_fields)};

/* The value of `key` names a variant, or is not given (NULL). */
static int check_reference(const struct bb_reader *r, const struct bb_scenario *s, const char *key,
			   const struct bb_yaml *node)
{
	const char *names[BB_YAML_MAX_ENTRIES];

	if (!node || bb_scenario__variant(s, node->text))
		return 0;
	assert(s->n_variants <= ARRAY_LEN(names));
	for (size_t i = 0; i < s->n_variants; i++)
		names[i] = s->variants[i].name;
	return bb_yaml__fail(r->path, node, r->err, "%s %s is no variant%s; there are: %s", key,
			     bb_yaml__show(node).text,
			     bb_phrase__suggest(node->text, names, s->n_variants).text,
			     bb_phrase__join(names, s->n_variants).text);
}

/* What a drive says of variants, which may stand further down in the file. */
static int check_drive(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_yaml *node)
{
	const struct bb_yaml *driven = bb_yaml__get(node, "variants");
	int rc = check_reference(r, s, "floor", bb_yaml__get(node, "floor"));

	for (size_t i = 0; !rc && driven && i < driven->n; i++) {
		rc = check_reference(r, s, "variants:", &driven->items[i]);
		for (size_t j = 0; !rc && j < i; j++)
			if (!strcmp(driven->items[j].text, driven->items[i].text))
				rc = bb_yaml__fail(r->path, &driven->items[i], r->err,
						   "variants lists %s twice",
						   bb_yaml__show(&driven->items[i]).text);
	}
	return rc;
}

static int check_references(const struct bb_reader *r, const struct bb_scenario *s,
			    const struct bb_yaml *root)
{
	const struct bb_yaml *drives = bb_yaml__get(root, "drive");
	int rc = check_reference(r, s, "floor", bb_yaml__get(root, "floor"));

	rc = rc ? rc : check_reference(r, s, "anchor", bb_yaml__get(root, "anchor"));
	for (size_t i = 0; !rc && i < drives->n; i++)
		rc = check_drive(r, s, &drives->items[i]);
	return rc;
}

static int check_object(const struct bb_reader *r, const struct bb_scenario *s,
			const struct bb_yaml *root)
{
	bool all_live = true;

	for (size_t i = 0; i < s->n_variants; i++)
		all_live &= bb_variant_is_live(&s->variants[i]);
	for (size_t i = 0; i < s->n_drives && !s->object && !all_live; i++)
		if (strcmp(s->drives[i].with, drivers[FAKE]) &&
		    strcmp(s->drives[i].with, drivers[CALL]))
			return bb_yaml__fail(r->path, root, r->err,
					     "a scenario needs the key 'object', the file with the "
					     "BPF programs, for its drive at %u:%u",
					     s->drives[i].where.line, s->drives[i].where.col);
	return 0;
}

/* `reset: run` needs somebody who knows when a run begins. */
static int check_reset(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_map_spec *map)
{
	const struct bb_yaml at = {.line = map->where.line, .col = map->where.col};

	for (size_t i = 0; map->each_run && i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];

		if (strcmp(d->with, drivers[STEP]) && strcmp(d->with, drivers[FAKE]))
			return bb_yaml__fail(r->path, &at, r->err,
					     "map '%s' with 'reset: run' needs a drive that fires "
					     "each run on its own, 'with: step'; the drive at "
					     "%u:%u is %s, which has no moment between two runs",
					     map->name, d->where.line, d->where.col, d->with);
	}
	return 0;
}

/* Every variant's list of maps is made whole, so that nobody else needs to know where one stood. */
static int settle_maps(const struct bb_reader *r, struct bb_scenario *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->n_variants; i++) {
		struct bb_map_specs *maps = &s->variants[i].maps;

		if (bb_map_specs__inherit(maps, &s->maps))
			return bb_fail_nomem(r->err);
		for (size_t k = 0; !rc && k < maps->n; k++)
			rc = check_reset(r, s, maps->v[k]);
	}
	return rc;
}

/* So is every drive's floor. */
static int settle_floors(const struct bb_reader *r, struct bb_scenario *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && s->floor && i < s->n_drives; i++)
		if (!s->drives[i].floor)
			rc = bb_field__set_text(r, &s->drives[i].floor, s->floor);
	return rc;
}

static int read_scenario(const struct bb_reader *r, const struct bb_yaml *root,
			 struct bb_scenario *s)
{
	int rc = bb_field__set_text(r, &s->path, r->path);

	s->expect_drops = -1;
	rc = rc ? rc : bb_kind__read(r, &scenario_kind, root, 0, s);
	rc = rc ? rc : check_references(r, s, root);
	rc = rc ? rc : check_object(r, s, root);
	rc = rc ? rc : settle_maps(r, s);
	return rc ? rc : settle_floors(r, s);
}

int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err)
{
	const struct bb_reader r = {.path = path, .err = err};
	struct bb_scenario *s;
	struct bb_yaml *root;
	int rc = bb_yaml__parse(text, len, path, &root, err);

	if (rc)
		return rc;
	s = calloc(1, sizeof(*s));
	rc = s ? read_scenario(&r, root, s) : bb_fail_nomem(err);
	bb_yaml__free(root);
	if (rc)
		bb_scenario__free(s);
	else
		*ret_scenario = s;
	return rc;
}

/* At most `size` bytes of the file; a file may also be a pipe, so its size is not asked for. */
static int read_file(const char *path, char *buf, size_t size, size_t *ret_len, struct bb_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = 0;
	size_t len = 0;

	if (fd < 0) {
		rc = -errno;
		return bb_fail(err, rc, "%s: cannot open the scenario: %s", path, strerror(-rc));
	}
	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rc = -errno;
			bb_fail(err, rc, "%s: cannot read the scenario: %s", path, strerror(-rc));
		}
		if (n <= 0)
			break;
		len += (size_t)n;
	}
	close(fd);
	if (!rc)
		*ret_len = len;
	return rc;
}

int bb_scenario__read(const char *path, struct bb_scenario **ret_scenario, struct bb_err *err)
{
	size_t size = BB_YAML_MAX_BYTES + 1; /* one more, to see that there is more */
	size_t len = 0;
	char *buf = malloc(size);
	int rc;

	if (!buf)
		return bb_fail_nomem(err);
	rc = read_file(path, buf, size, &len, err);
	if (!rc)
		rc = bb_scenario__parse(buf, len, path, ret_scenario, err);
	free(buf);
	return rc;
}

const struct bb_variant_spec *bb_scenario__variant(const struct bb_scenario *s, const char *name)
{
	for (size_t i = 0; i < s->n_variants; i++)
		if (s->variants[i].name && !strcmp(s->variants[i].name, name))
			return &s->variants[i];
	return NULL;
}
