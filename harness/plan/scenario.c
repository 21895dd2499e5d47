/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/scenario.h"

#include <jansson.h>

#include "base/cpus.h"
#include "base/parse.h"
#include "plan/field.h"
#include "plan/yaml.h"

/* Each table below lists the keys of one kind of mapping. The functions that read the values of
 * these keys stand before the table. */

static const char *const consumers[] =
	{[BB_DRAIN_EACH_RUN] = "caught-up", [BB_DRAIN_HALF_FULL] = "behind"};
static const char *const orders[] = {[BB_ORDER_NONE] = "none",
				     [BB_ORDER_RECORDED] = "recorded",
				     [BB_ORDER_RANDOM] = "random",
				     [BB_ORDER_ZIPF] = "zipf"};
static const char *const all_caches[] = {[BB_CACHES_HOT] = "hot", [BB_CACHES_COLD] = "cold"};

/* refusals[true] is the text that makes bpfbench skip a refused program */
static const char *const refusals[] = {[false] = "error", [true] = "skip"};

/* the first one is the default */
static const char *const samplers[] = {"program", "none", "perf-record", "profile"};

/* the most values of a drive's key `with`, and of the key (`trigger` or `event`) that chooses
 * between kinds with the same `with` */
#define MAX_CHOICES 32
/* The most kinds of drives. bb_field.with has 32 bits: bit k stands for kind k, and bit 31 for no
 * kind (OF_KINDS). */
#define MAX_KINDS 31
#define BUFFER_MOST_BYTES (1 << 30)

/* key `fired_by`: a trigger's name, {call: malloc, arguments: [64]} or {run: [true]} */

static const struct bb_field buffer_fields[] = {
	{"buffer", &bb_type_u32, .required = true, .min = 1, .max = BUFFER_MOST_BYTES},
};
static const struct bb_kind buffer_kind = {BB_KIND("a buffer", "{buffer: 4096}", buffer_fields)};

/* `*ret_word` has the form of bb_fired_by.arguments. */
static int read_argument(const struct bb_reader *r, const struct bb_yaml *node, char **ret_word)
{
	int64_t number = 0;
	uint32_t bytes = 0;
	char *word;
	double real;
	int rc;

	if (node->kind == BB_YAML_MAP) {
		rc = bb_kind__read(r, &buffer_kind, node, 0, &bytes);
		*ret_word = bb_arena__own(r->arena, bb_asprintf("b%u", bytes));
		return rc;
	}
	rc = node->kind == BB_YAML_TEXT ? bb_parse_i64(node->text, &number) : -ERANGE;
	if (node->quoted)
		word = bb_asprintf("t%s", node->text);
	else if (!rc)
		word = bb_asprintf("n%lld", (long long)number);
	else if (rc == -EINVAL && !bb_parse_double(node->text, &real))
		word = bb_asprintf("r%.17g", real);
	else
		return bb_yaml__fail(r, node,
				     "an argument is a number, a text in quotes or {buffer: "
				     "BYTES}, "
				     "not %s",
				     bb_yaml__show(node).text);
	*ret_word = bb_arena__own(r->arena, word);
	return 0;
}

static int read_arguments(const struct bb_reader *r, const struct bb_field *f,
			  const struct bb_yaml *node, void *base)
{
	struct bb_fired_by *by = base;
	int rc = bb_field__check_list(r, f, node, f->item);

	if (!rc && node->n > BB_ARGUMENTS_MOST)
		rc = bb_yaml__fail(r, node, "%s: a call has at most %u of them", f->name,
				   BB_ARGUMENTS_MOST);
	by->arguments = bb_arena__own(r->arena, bb_calloc(node->n + 1, sizeof(*by->arguments)));
	for (size_t i = 0; !rc && i < node->n; i++)
		rc = read_argument(r, &node->items[i], &by->arguments[by->n_arguments++]);
	return rc;
}

#define ARGUMENTS                                                                                  \
	"{\"type\": \"array\", \"minItems\": 1, \"items\": {\"anyOf\": ["                          \
	"{\"type\": [\"number\", \"string\"]}, {\"type\": \"object\", \"required\": "              \
	"[\"buffer\"], "                                                                           \
	"\"properties\": {\"buffer\": {\"type\": \"integer\"}}, \"additionalProperties\": "        \
	"false}]}}"

static const struct bb_field fired_by_fields[] = {
	{"call", &bb_type_text, BB_AT(bb_fired_by, call)},
	{"arguments", &bb_type_texts, BB_LIST_AT(bb_fired_by, arguments, n_arguments),
	 .read = read_arguments, .schema = ARGUMENTS, .item = "arguments such as 64 or \"text\""},
	{"run", &bb_type_texts, BB_LIST_AT(bb_fired_by, run, n_run),
	 .item = "a part of the command"},
};

static const struct bb_kind fired_by_kind = {
	BB_KIND("fired_by", "{call: malloc, arguments: [64]}", fired_by_fields)};

static int read_fired_by(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, void *base)
{
	struct bb_fired_by *by = bb_field__member(f, base);
	struct bb_field trigger = {.name = f->name, BB_AT(bb_fired_by, trigger)};

	if (node->kind == BB_YAML_TEXT)
		return bb_field__text(r, &trigger, node, by);
	int rc = bb_kind__read(r, &fired_by_kind, node, 0, by);
	if (!rc && !by->call == !by->run)
		rc = bb_yaml__fail(r, node,
				   "fired_by needs either the key 'call', a function of the "
				   "library, or the key 'run', a command");
	if (!rc && by->run && by->arguments)
		rc = bb_yaml__fail(r, bb_yaml__get(node, "arguments"),
				   "key 'arguments' is for 'call'; those of a command stand in "
				   "'run'");
	return rc;
}

static int read_global(const struct bb_reader *r, const struct bb_yaml *key,
		       const struct bb_yaml *node, struct bb_global_spec *global)
{
	int truth, rc = -EINVAL;

	global->where = (struct bb_where){.line = key->line, .col = key->col};
	if (!*key->text)
		return bb_yaml__fail(r, key, "a global needs a name");
	global->name = key->text;
	if (node->kind == BB_YAML_MAP)
		return bb_field__self(r, node, key->text, &global->self);
	if (node->kind == BB_YAML_TEXT && !node->quoted) {
		rc = bb_parse_i64(node->text, &global->value);
		if (rc == -EINVAL) {
			rc = bb_parse_bool(node->text, &truth);
			global->value = rc ? 0 : truth;
		}
	}
	if (rc == -ERANGE)
		return bb_yaml__fail(r, node, "global %s does not fit into 64 bits: %s",
				     bb_yaml__show(key).text, bb_yaml__show(node).text);
	if (rc)
		return bb_yaml__fail(r, node,
				     "global %s must be a whole number, true or false, not %s%s",
				     bb_yaml__show(key).text,
				     node->quoted ? "the quoted text " : "",
				     bb_yaml__show(node).text);
	return 0;
}

#define MOST_COMBINATIONS 64u

/* Counts the combinations of values of the variant's globals. The variant is read once for each
 * combination. */
static int count_combinations(const struct bb_reader *r, const struct bb_yaml *node,
			      uint32_t *ret_n)
{
	bool is_map = node->kind == BB_YAML_MAP;
	const struct bb_yaml *globals = is_map ? bb_yaml__get(node, "globals") : NULL;

	*ret_n = 1;
	for (size_t i = 0; globals && globals->kind == BB_YAML_MAP && i < globals->n; i++) {
		const struct bb_yaml *value = &globals->items[2 * i + 1];

		if (value->kind != BB_YAML_LIST || !value->n)
			continue;
		if (value->n > MOST_COMBINATIONS / *ret_n)
			return bb_yaml__fail(r, value,
					     "the values of these globals have more than %u "
					     "combinations, and each is a variant",
					     MOST_COMBINATIONS);
		*ret_n *= (uint32_t)value->n;
	}
	return 0;
}

/* Replaces `*node`, a list of values of the global `key`, by the value of the variant's
 * combination. Appends this value to v->suffix: ".max_frames-64". `*rest` is v->combination at the
 * first list. `*rest` modulo the number of values is the index of the value. The quotient is the
 * next `*rest`. */
static int choose_value(const struct bb_reader *r, const struct bb_yaml *key,
			const struct bb_yaml **node, uint32_t *rest, struct bb_variant_spec *v)
{
	const struct bb_yaml *list = *node;

	if (!list->n)
		return bb_yaml__fail(r, list, "global %s must not be an empty list",
				     bb_yaml__show(key).text);
	*node = &list->items[*rest % list->n];
	*rest /= (uint32_t)list->n;
	if ((*node)->kind != BB_YAML_TEXT)
		return bb_yaml__fail(r, *node,
				     "a list of values of global %s has numbers, true and "
				     "false",
				     bb_yaml__show(key).text);
	v->suffix = bb_arena__own(r->arena, bb_asprintf("%s.%s-%s", v->suffix ? v->suffix : "",
							key->text, (*node)->text));
	return 0;
}

static int read_globals(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	struct bb_variant_spec *variant = base;
	uint32_t rest = variant->combination;

	if (node->kind != BB_YAML_MAP)
		return bb_yaml__fail(r, node, "%s must be a mapping such as {name: 5}, not %s",
				     f->name, bb_yaml__show(node).text);
	if (!node->n)
		return bb_yaml__fail(r, node, "%s must not be an empty mapping", f->name);
	variant->globals = bb_arena__own(r->arena, bb_calloc(node->n, sizeof(*variant->globals)));
	for (size_t i = 0; i < node->n; i++) {
		const struct bb_yaml *key = &node->items[2 * i], *value = &node->items[2 * i + 1];
		int rc = 0;

		if (value->kind == BB_YAML_LIST)
			rc = choose_value(r, key, &value, &rest, variant);
		if (!rc)
			rc = read_global(r, key, value, &variant->globals[variant->n_globals++]);
		if (rc)
			return rc;
	}
	return 0;
}

static char *place_of(const struct bb_reader *r, const struct bb_yaml *node)
{
	return bb_arena__own(r->arena, bb_asprintf("%s:%u:%u", r->path, node->line, node->col));
}

/* `binary` and `function` need each other, and `pid` excludes `fired_by`. */
static int check_place(const struct bb_reader *r, const struct bb_yaml *node,
		       struct bb_variant_spec *v)
{
	const struct bb_yaml *fired_by = bb_yaml__get(node, "fired_by");
	const struct bb_yaml *binary = bb_yaml__get(node, "binary");
	const struct bb_yaml *fired = fired_by ? fired_by : bb_yaml__get(node, "pid");

	v->binary_at = binary ? place_of(r, binary) : NULL;
	v->fired_at = fired ? place_of(r, fired) : NULL;
	if (!v->binary != !v->function)
		return bb_yaml__fail(r, node,
				     "variant '%s': 'binary', a file, and 'function', one of its "
				     "functions, go together",
				     v->name);
	if (v->pid && bb_fired_by__is_given(&v->fired_by))
		return bb_yaml__fail(r, fired_by,
				     "variant '%s': process %u makes the program run, as 'pid' "
				     "says; leave out 'fired_by'",
				     v->name, v->pid);
	return 0;
}

/* A live program is loaded already, so `id` or `pinned` excludes keys about loading. */
static int check_live(const struct bb_reader *r, const struct bb_yaml *node,
		      const struct bb_variant_spec *v)
{
	static const char *const for_loading[] = {"program", "object",  "type",   "globals",
						  "maps",    "prepare", "binary", "function",
						  "pid",     "fired_by"};

	if (v->id && v->pinned)
		return bb_yaml__fail(r, node,
				     "variant '%s' has both an id and a pin; give one of them",
				     v->name);
	for (size_t i = 0; bb_variant_is_live(v) && i < BB_LEN(for_loading); i++)
		if (bb_yaml__get(node, for_loading[i]))
			return bb_yaml__fail(r, bb_yaml__get(node, for_loading[i]),
					     "key '%s' is for programs that bpfbench loads; "
					     "variant '%s' is a live program, named by %s",
					     for_loading[i], v->name, v->id ? "its id" : "its pin");
	return 0;
}

#define CHOICE(table) .choices = (table), .n_choices = BB_LEN(table)
#define TEXT(type, m) &bb_type_text, BB_AT(type, m)
#define LIST(type, m, n, kind) &bb_type_list, BB_LIST_AT(type, m, n), .of = &(kind)

#define GLOBALS                                                                                    \
	"{\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": "                  \
	"{\"anyOf\": [{\"type\": [\"integer\", \"boolean\"]}, {\"type\": \"array\", "              \
	"\"minItems\": 1, "                                                                        \
	"\"items\": {\"type\": [\"integer\", \"boolean\"]}}, " BB_SCHEMA_SELF "]}}"
static const struct bb_type globals_type = {read_globals, GLOBALS};

static const struct bb_field prepare_fields[] = {
	{"program", TEXT(bb_prepare_spec, program), .required = true},
	{"times", &bb_type_u32, BB_AT(bb_prepare_spec, times), .min = 1, .max = 10000000},
	{"inputs", LIST(bb_prepare_spec, inputs.v, inputs.n, bb_input_kind),
	 .read = bb_field__inputs},
};

static const struct bb_kind prepare_kind = {BB_KIND("an item of prepare", "{program: fill_tables}",
						    prepare_fields),
					    BB_ITEM(bb_prepare_spec)};

static const char *const no_yes[] = {"no", "yes"};

static const struct bb_field variant_fields[] = {
	{"name", &bb_type_name, BB_AT(bb_variant_spec, name), .required = true},
	{"program", TEXT(bb_variant_spec, program)},
	{"object", TEXT(bb_variant_spec, object)},
	{"type", TEXT(bb_variant_spec, type)},
	{"id", &bb_type_u32, BB_AT(bb_variant_spec, id), .min = 1, .max = UINT32_MAX},
	{"pinned", TEXT(bb_variant_spec, pinned)},
	{"description", TEXT(bb_variant_spec, description)},
	{"found", &bb_type_flag, BB_AT(bb_variant_spec, found), CHOICE(no_yes)},
	{"globals", &globals_type, BB_AT(bb_variant_spec, globals)},
	{"prepare", LIST(bb_variant_spec, prepare, n_prepare, prepare_kind),
	 .item = "mappings such as {program: fill_tables, times: 100}"},
	{"maps", BB_MAPS(bb_variant_spec)},
	{"binary", TEXT(bb_variant_spec, binary)},
	{"function", TEXT(bb_variant_spec, function)},
	{"pid", &bb_type_u32, BB_AT(bb_variant_spec, pid), .min = 1, .max = INT_MAX},
	{"fired_by", &bb_type_part, BB_AT(bb_variant_spec, fired_by), .read = read_fired_by,
	 .of = &fired_by_kind, .schema = BB_SCHEMA_TEXT},
	{"consumer", &bb_type_choice, BB_AT(bb_variant_spec, consumer),
	 .choice = bb_sample_consumer_name},
	{"sampler", &bb_type_choice, BB_AT(bb_variant_spec, sampler), CHOICE(samplers)},
};

static int read_variant(const struct bb_reader *r, const struct bb_yaml *node, void *item);

static const struct bb_kind variant_kind = {BB_KIND("a variant", "{name: ringbuf}", variant_fields),
					    BB_ITEM(bb_variant_spec),
					    .read = read_variant,
					    .noun = "variant",
					    .copies = count_combinations,
					    .copy_offset = offsetof(struct bb_variant_spec,
								    combination)};

static void set_default(const struct bb_reader *r, char **text, const char *value)
{
	if (!*text)
		*text = bb_arena__own(r->arena, bb_strdup(value));
}

static int read_variant(const struct bb_reader *r, const struct bb_yaml *node, void *item)
{
	struct bb_variant_spec *v = item;
	char clean[BB_NAME_MAX_BYTES + 1], *name;
	int rc = bb_kind__read(r, &variant_kind, node, 0, v);

	rc = rc ? rc : check_live(r, node, v);
	rc = rc ? rc : check_place(r, node, v);
	if (rc)
		return rc;
	set_default(r, &v->program, v->name);
	set_default(r, &v->consumer, bb_sample_consumer_name(0));
	set_default(r, &v->sampler, samplers[0]);
	if (!v->suffix)
		return 0;
	/* adds the values that were chosen from lists to the name: "v2.max_frames-64" */
	name = bb_asprintf("%s%s", v->name, v->suffix);
	size_t len = strlen(name);
	bb_name_from(name, len, clean);
	free(name);
	v->name = bb_arena__own(r->arena, bb_strdup(clean));
	if (len > BB_NAME_MAX_BYTES)
		return bb_yaml__fail(r, node,
				     "the name of this variant, with the values of its globals, is "
				     "longer than %d",
				     BB_NAME_MAX_BYTES);
	return 0;
}

/* Reads a text that must be among those that the drive's kind allows (bb_drive_key.choice). */
static int read_of_kind(const struct bb_reader *r, const struct bb_field *f,
			const struct bb_yaml *node, void *base)
{
	const struct bb_drive_spec *drive = base;
	const struct bb_drive_key *key = bb_drive_kind_key(drive->kind, f->name);
	struct bb_field own = *f;

	own.choice = key->choice;
	return key->choice ? bb_field__choice(r, &own, node, base)
			   : bb_field__text(r, f, node, base);
}

/* Finds the kind of a drive by its key `with` and, if several share it, by `trigger` or `event`. */
static int find_kind(const struct bb_reader *r, const struct bb_yaml *node,
		     const struct bb_drive_kind **ret_kind)
{
	const struct bb_yaml *name = bb_yaml__get(node, "with"), *by;
	const char *names[MAX_CHOICES];
	struct bb_field with = {.name = "with", .choices = names}, key = {.choices = names};
	size_t i;

	for (size_t k = 0; k < bb_n_drive_kinds; k++)
		if (bb_drive_kind_find(bb_drive_kinds[k]->with, NULL) == bb_drive_kinds[k])
			names[with.n_choices++] = bb_drive_kinds[k]->with;
	if (!name)
		return bb_yaml__fail(r, node, "a drive needs the key 'with', one of: %s",
				     bb_phrase__join(names, with.n_choices).text);
	*ret_kind = name->kind == BB_YAML_TEXT ? bb_drive_kind_find(name->text, NULL) : NULL;
	/* a wrong `with` fails here, with a message that lists the values */
	int rc = *ret_kind ? 0 : bb_field__choose(r, &with, name, &i);
	if (rc)
		return rc;
	key.name = (*ret_kind)->by_key;
	by = key.name ? bb_yaml__get(node, key.name) : NULL;
	if (!by)
		return 0;
	for (size_t k = 0; k < bb_n_drive_kinds; k++)
		for (i = 0; i < BB_LEN((*ret_kind)->by) && bb_drive_kinds[k]->by[i]; i++)
			if (!strcmp(bb_drive_kinds[k]->with, (*ret_kind)->with)) {
				assert(key.n_choices < MAX_CHOICES);
				names[key.n_choices++] = bb_drive_kinds[k]->by[i];
			}
	rc = bb_field__choose(r, &key, by, &i);
	if (!rc)
		*ret_kind = bb_drive_kind_find((*ret_kind)->with, names[i]);
	return rc;
}

static void set_drive_defaults(const struct bb_reader *r, struct bb_drive_spec *d)
{
	const struct bb_drive_kind *kind = d->kind;
	struct {
		const char *key;
		char **member;
	} texts[] = {{"event", &d->event},
		     {"inside", &d->step.inside},
		     {"function", &d->call.function}};

	if (kind->by_key && !strcmp(kind->by_key, "event"))
		set_default(r, &d->event, kind->by[0]);
	for (size_t i = 0; i < BB_LEN(texts); i++) {
		const struct bb_drive_key *key = bb_drive_kind_key(kind, texts[i].key);

		if (key && key->choice)
			set_default(r, texts[i].member, key->choice(0));
	}
	if (kind->param && !d->values.n) {
		d->values.v = bb_arena__extend(r->arena, &kind->param_default, 1, 0,
					       sizeof(*d->values.v));
		d->values.n = 1;
	}
}

static const struct bb_type already_read = {0};

/* For keys that only some kinds of drives take. read_drive() adds the bits of these kinds. The bit
 * MAX_KINDS belongs to no kind. It is set because a bb_field.with of 0 would allow the key in all
 * kinds. */
#define OF_KINDS .with = BB_BIT(MAX_KINDS)

/* Reads the key `cpus`. Replaces `all` by the number of usable CPUs, or leaves `all` out if the
 * list has that number already. */
static int read_cpus(const struct bb_reader *r, const struct bb_field *f,
		     const struct bb_yaml *node, void *base)
{
	bool is_list = node->kind == BB_YAML_LIST;
	struct bb_yaml *items = bb_calloc(is_list ? node->n + 1 : 1, sizeof(*items));
	struct bb_yaml numbers = *node;
	char all[12];

	snprintf(all, sizeof(all), "%d", bb_usable_cpus(NULL));
	numbers.n = 0;
	for (size_t i = 0; i < (is_list ? node->n : 1); i++) {
		struct bb_yaml item = is_list ? node->items[i] : *node;
		bool is_all = item.kind == BB_YAML_TEXT && !strcmp(item.text, "all");
		bool is_there = false;

		item.text = is_all ? all : item.text;
		for (size_t k = 0; is_all && is_list && k < node->n; k++)
			is_there |= node->items[k].kind == BB_YAML_TEXT &&
				    !strcmp(node->items[k].text, all);
		if (!is_there)
			items[numbers.n++] = item;
	}
	numbers.items = items;
	int rc = bb_type_u32_list.read(r, f, is_list ? &numbers : items, base);
	free(items);
	return rc;
}

#define VALUES &bb_type_u32_list, BB_LIST_AT(bb_drive_spec, values.v, values.n), OF_KINDS, .min = 1

static const struct bb_field drive_fields[] = {
	{"with", &already_read, .required = true},
	{"trigger", &already_read, OF_KINDS}, /* find_kind() has read this key already */
	{"inside", TEXT(bb_drive_spec, step.inside), OF_KINDS, .read = read_of_kind},
	{"stack_depth", VALUES, .max = 127},
	{"consumer", &bb_type_index, BB_AT(bb_drive_spec, step.consumer), OF_KINDS,
	 CHOICE(consumers)},
	{"caches", &bb_type_index, BB_AT(bb_drive_spec, caches), OF_KINDS, CHOICE(all_caches)},
	{"inputs", LIST(bb_drive_spec, inputs.v, inputs.n, bb_input_kind), OF_KINDS,
	 .read = bb_field__inputs},
	{"same_input", &bb_type_flag, BB_AT(bb_drive_spec, same_input), OF_KINDS, CHOICE(no_yes)},
	{"order", &bb_type_index, BB_AT(bb_drive_spec, order), OF_KINDS, CHOICE(orders)},
	{"repeat", &bb_type_u32, BB_AT(bb_drive_spec, slope.repeat), OF_KINDS, .min = 8,
	 .max = 1000000},
	{"event", TEXT(bb_drive_spec, event), OF_KINDS, .read = read_of_kind},
	{"workload", TEXT(bb_drive_spec, target.workload), OF_KINDS, .required = true},
	{"args", &bb_type_texts, BB_LIST_AT(bb_drive_spec, target.args, target.n_args), OF_KINDS,
	 .item = "an argument"},
	{"cpus", VALUES, .max = 4096, .required = true, .read = read_cpus,
	 .schema = "{\"anyOf\": [{\"type\": \"integer\", \"minimum\": 1}, {\"const\": "
		   "\"all\"}]}"},
	{"freq_hz", VALUES, .max = 100000},
	{"rate_hz", VALUES, .max = 100000},
	{"seconds", &bb_type_double, BB_AT(bb_drive_spec, seconds), OF_KINDS, .min = 0.01,
	 .max = 86400},
	{"function", TEXT(bb_drive_spec, call.function), OF_KINDS, .read = read_of_kind,
	 .required = true},
	{"samples", &bb_type_u32, BB_AT(bb_drive_spec, samples), OF_KINDS, .min = 1,
	 .max = 100000000},
	{"variants", &bb_type_texts, BB_LIST_AT(bb_drive_spec, variants, n_variants),
	 .item = "a variant's name"},
	{"floor", TEXT(bb_drive_spec, floor)},
};

/* Checks that the number, the weights and the outputs of a drive's inputs fit its order. */
static int check_mix(const struct bb_reader *r, const struct bb_yaml *node,
		     const struct bb_drive_spec *d)
{
	const struct bb_yaml *inputs = bb_yaml__get(node, "inputs");
	const struct bb_yaml *order = bb_yaml__get(node, "order");
	size_t weighed = BB_SUM(d->inputs.v, d->inputs.n, it->weight > 0);

	if (!d->order && d->inputs.n > BB_INPUTS_MAX)
		return bb_yaml__fail(r, inputs,
				     "a drive makes a case of each input and can have at most %u, "
				     "not %zu; with 'order' it makes one case of them all, a mix",
				     BB_INPUTS_MAX, d->inputs.n);
	if (!d->order)
		return 0;
	if (d->inputs.n < 2)
		return bb_yaml__fail(r, order, "order needs two inputs or more");
	if (d->kind->by_line)
		return bb_yaml__fail(r, order,
				     "lines times the runs of one input; 'with: step' and 'with: "
				     "exact' take a mix");
	if (weighed && (d->order != BB_ORDER_RANDOM || weighed < d->inputs.n))
		return bb_yaml__fail(r, order,
				     "weights say how often inputs come, which needs 'order: "
				     "random' and a weight of each input (%zu of %zu have one)",
				     weighed, d->inputs.n);
	for (size_t i = 0; i < d->inputs.n; i++)
		if (d->inputs.v[i].out)
			return bb_yaml__fail(r, order,
					     "the outputs of a mix are not checked, and input "
					     "'%s' has out_hex",
					     d->inputs.v[i].name);
	return 0;
}

static int read_drive(const struct bb_reader *r, const struct bb_yaml *node, void *item)
{
	struct bb_drive_spec *d = item;
	struct bb_field fields[BB_LEN(drive_fields)];
	struct bb_mode modes[MAX_KINDS]; /* the kinds of drives */
	char labels[MAX_KINDS][48];
	size_t own = 0;
	int rc = node->kind == BB_YAML_MAP ? find_kind(r, node, &d->kind) : 0;

	if (rc)
		return rc;
	assert(bb_n_drive_kinds <= MAX_KINDS);
	memcpy(fields, drive_fields, sizeof(drive_fields));
	for (size_t k = 0; k < bb_n_drive_kinds; k++) {
		const struct bb_drive_kind *kind = bb_drive_kinds[k];
		bool first = bb_drive_kind_find(kind->with, NULL) == kind;

		for (size_t f = 0; f < BB_LEN(drive_fields); f++)
			if (drive_fields[f].with && bb_drive_kind_key(kind, drive_fields[f].name))
				fields[f].with |= BB_BIT(k);
		snprintf(labels[k], sizeof(labels[k]), "%s: %s", first ? "with" : kind->by_key,
			 first ? kind->with : kind->by[0]);
		modes[k] = (struct bb_mode){labels[k], kind->title ? kind->title : kind->with};
		own = kind == d->kind ? k : own;
	}
	struct bb_kind mapping = {BB_KIND("a drive", "{with: step}", fields), .modes = modes,
				  .n_modes = bb_n_drive_kinds};
	rc = bb_kind__read(r, &mapping, node, BB_BIT(own), d);
	rc = rc ? rc : check_mix(r, node, d);
	if (!rc)
		set_drive_defaults(r, d);
	return rc;
}

/* If `with` is NULL, returns the values of a drive's key `with`. Otherwise returns the values of
 * the key (`trigger` or `event`) that chooses between the kinds with this `with`. */
static json_t *kind_names(const char *with)
{
	json_t *names = json_array();

	for (size_t k = 0; k < bb_n_drive_kinds; k++) {
		const struct bb_drive_kind *kind = bb_drive_kinds[k];

		if (!with && bb_drive_kind_find(kind->with, NULL) == kind)
			json_array_append_new(names, json_string(kind->with));
		if (!with && kind->old_with)
			json_array_append_new(names, json_string(kind->old_with));
		for (size_t i = 0; with && !strcmp(kind->with, with) && i < BB_LEN(kind->by); i++)
			if (kind->by[i])
				json_array_append_new(names, json_string(kind->by[i]));
	}
	return names;
}

/* Returns the schema's rule for a kind of drive: the keys that it takes and requires, and their
 * values. */
static json_t *kind_rule(const struct bb_drive_kind *kind)
{
	json_t *keys = json_array(), *required = json_array(), *values = json_object();
	json_t *with = kind->old_with ? json_pack("{s:{s:[ss]}}", "with", "enum", kind->with,
						  kind->old_with)
				      : json_pack("{s:{s:s}}", "with", "const", kind->with);
	json_t *chosen_by = json_pack("[s]", "with"), *by;

	for (size_t i = 0; i < BB_LEN(drive_fields); i++) {
		const struct bb_field *f = &drive_fields[i];
		const struct bb_drive_key *key = bb_drive_kind_key(kind, f->name);
		json_t *choices = key && key->choice ? json_array() : NULL;

		if (f->with && !key)
			continue;
		json_array_append_new(keys, json_string(f->name));
		if (f->required)
			json_array_append_new(required, json_string(f->name));
		for (size_t k = 0; choices && key->choice(k); k++)
			json_array_append_new(choices, json_string(key->choice(k)));
		if (choices)
			json_object_set_new(values, f->name, json_pack("{s:o}", "enum", choices));
	}
	if (kind->by_key) {
		by = json_array();
		for (size_t i = 0; i < BB_LEN(kind->by) && kind->by[i]; i++)
			json_array_append_new(by, json_string(kind->by[i]));
		json_object_set_new(with, kind->by_key, json_pack("{s:o}", "enum", by));
	}
	/* `by_key` names the key that chooses between kinds with the same `with`. Without this key,
	 * a drive is of the first of these kinds, whose rule therefore does not require the key. */
	if (kind->by_key && bb_drive_kind_find(kind->with, NULL) != kind)
		json_array_append_new(chosen_by, json_string(kind->by_key));
	return json_pack("{s:{s:o,s:o},s:{s:{s:o},s:o,s:o}}", "if", "properties", with, "required",
			 chosen_by, "then", "propertyNames", "enum", keys, "required", required,
			 "properties", values);
}

static json_t *drive_rules(void)
{
	json_t *rules = json_pack("[{s:{s:{s:o}}}]", "properties", "with", "enum",
				  kind_names(NULL));

	for (size_t k = 0; k < bb_n_drive_kinds; k++) {
		const struct bb_drive_kind *kind = bb_drive_kinds[k];

		json_array_append_new(rules, kind_rule(kind));
		if (kind->by_key && bb_drive_kind_find(kind->with, NULL) == kind)
			json_array_append_new(rules,
					      json_pack("{s:{s:{s:{s:s}}},s:{s:{s:{s:o}}}}", "if",
							"properties", "with", "const", kind->with,
							"then", "properties", kind->by_key, "enum",
							kind_names(kind->with)));
	}
	return rules;
}

static const struct bb_kind drive_kind = {BB_KIND("a drive", "{with: step}", drive_fields),
					  BB_ITEM(bb_drive_spec), .read = read_drive,
					  .rules = drive_rules};

static const struct bb_field expect_fields[] = {
	{"drops", &bb_type_u32, BB_AT(bb_scenario, expect_drops), .required = true, .min = 0,
	 .max = INT_MAX},
};

static const struct bb_kind expect_kind = {BB_KIND("expect", "{drops: 0}", expect_fields)};

static const struct bb_field scenario_fields[] = {
	{"name", &bb_type_name, BB_AT(bb_scenario, name), .required = true},
	{"description", TEXT(bb_scenario, description)},
	{"object", TEXT(bb_scenario, object)},
	{"floor", TEXT(bb_scenario, floor)},
	{"anchor", TEXT(bb_scenario, anchor)},
	{"loads", &bb_type_u32, BB_AT(bb_scenario, loads), .min = 1, .max = 10000},
	{"refused", &bb_type_flag, BB_AT(bb_scenario, skips_refused), CHOICE(refusals)},
	{"setup", &bb_type_texts, BB_LIST_AT(bb_scenario, setup, n_setup), .item = "a command"},
	{"variants", LIST(bb_scenario, variants, n_variants, variant_kind), .required = true,
	 .item = "variants"},
	{"maps", BB_MAPS(bb_scenario)},
	{"drive", LIST(bb_scenario, drives, n_drives, drive_kind), .required = true,
	 .item = "mappings such as {with: step}"},
	{"expect", &bb_type_part, .of = &expect_kind},
};

static const struct bb_kind scenario_kind = {
	BB_KIND("a scenario", "'name: perf_profiler'", scenario_fields)};

/* Checks that the value `node` of `key` names a variant. `node` is NULL if the key is not given. */
static int check_reference(const struct bb_reader *r, const struct bb_scenario *s, const char *key,
			   const struct bb_yaml *node)
{
	const char *names[BB_YAML_MAX_ENTRIES];

	if (!node || bb_scenario__variant(s, node->text))
		return 0;
	assert(s->n_variants <= BB_LEN(names));
	for (size_t i = 0; i < s->n_variants; i++)
		names[i] = s->variants[i].name;
	return bb_yaml__fail(r, node, "%s %s is no variant%s; there are: %s", key,
			     bb_yaml__show(node).text,
			     bb_phrase__suggest(node->text, names, s->n_variants).text,
			     bb_phrase__join(names, s->n_variants).text);
}

/* Runs after the whole file is read, because the variants may stand below the drives. */
static int check_drive(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_yaml *node)
{
	const struct bb_yaml *driven = bb_yaml__get(node, "variants");
	int rc = check_reference(r, s, "floor", bb_yaml__get(node, "floor"));

	for (size_t i = 0; !rc && driven && i < driven->n; i++) {
		rc = check_reference(r, s, "variants:", &driven->items[i]);
		for (size_t j = 0; !rc && j < i; j++)
			if (!strcmp(driven->items[j].text, driven->items[i].text))
				rc = bb_yaml__fail(r, &driven->items[i], "variants lists %s twice",
						   bb_yaml__show(&driven->items[i]).text);
	}
	return rc;
}

/* If the map has `reset: run`, checks that every drive can restore it between any two runs. */
static int check_reset(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_map_spec *map)
{
	for (size_t i = 0; map->each_run && i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];

		if (!d->kind->one_by_one)
			return bb_yaml__fail(r, &map->where,
					     "map '%s' with 'reset: run' needs a drive that fires "
					     "each run on its own, 'with: step'; the drive at "
					     "%u:%u is %s, which cannot reset a map between two "
					     "runs",
					     map->name, d->where.line, d->where.col, d->kind->with);
	}
	return 0;
}

/* Checks whether keys agree, and copies the scenario's maps and floor to variants and drives. */
static int settle(const struct bb_reader *r, const struct bb_yaml *root, struct bb_scenario *s)
{
	const struct bb_yaml *drives = bb_yaml__get(root, "drive");
	bool lacks_object = false;
	int rc = check_reference(r, s, "floor", bb_yaml__get(root, "floor"));

	rc = rc ? rc : check_reference(r, s, "anchor", bb_yaml__get(root, "anchor"));
	for (size_t i = 0; !rc && i < drives->n; i++)
		rc = check_drive(r, s, &drives->items[i]);
	for (size_t i = 0; i < s->n_variants && !s->object; i++)
		lacks_object |= !s->variants[i].object && !bb_variant_is_live(&s->variants[i]);
	for (size_t i = 0; !rc && i < s->n_drives && lacks_object; i++)
		if (s->drives[i].kind->needs_bpf)
			rc = bb_yaml__fail(r, root,
					   "a scenario needs the key 'object', the file with the "
					   "BPF programs, for its drive at %u:%u",
					   s->drives[i].where.line, s->drives[i].where.col);
	for (size_t i = 0; !rc && i < s->n_variants; i++) {
		struct bb_map_specs *maps = &s->variants[i].maps;

		bb_map_specs__inherit(maps, &s->maps, r->arena);
		for (size_t k = 0; !rc && k < maps->n; k++) {
			struct bb_map_fill *fill = &maps->v[k].fill;

			fill->count = fill->counts.n ? fill->counts.v[fill->counts.n - 1] : 0;
			rc = check_reset(r, s, &maps->v[k]);
		}
	}
	for (size_t i = 0; s->floor && i < s->n_drives; i++)
		set_default(r, &s->drives[i].floor, s->floor);
	return rc;
}

static int parse(const char *text, size_t len, const char *path, bool is_outline,
		 struct bb_scenario **ret_scenario, struct bb_err *err)
{
	struct bb_scenario *s = bb_calloc(1, sizeof(*s));
	const struct bb_reader r = {path, err, is_outline, &s->arena};
	struct bb_yaml root = {0};
	int rc = bb_yaml__parse(&r, text, len, &root);

	s->path = bb_arena__own(r.arena, bb_strdup(path));
	s->expect_drops = -1;
	rc = rc ? rc : bb_kind__read(&r, &scenario_kind, &root, 0, s);
	rc = rc ? rc : settle(&r, &root, s);
	if (rc)
		bb_scenario__free(s);
	else
		*ret_scenario = s;
	return rc;
}

int bb_scenario__parse(const char *text, size_t len, const char *path,
		       struct bb_scenario **ret_scenario, struct bb_err *err)
{
	return parse(text, len, path, false, ret_scenario, err);
}

void bb_scenario__write_schema(FILE *out)
{
	json_t *defs = json_object(), *top = bb_schema__of_kind(defs, &scenario_kind);
	json_t *schema = json_pack("{s:s,s:s}", "$schema",
				   "https://json-schema.org/draft/2020-12/schema", "title",
				   "a scenario of bpfbench");

	json_object_update(schema, top);
	json_object_set(schema, "$defs", defs);
	json_dumpf(schema, out, JSON_INDENT(1));
	json_decref(schema);
	json_decref(top);
	json_decref(defs);
}

int bb_scenario__read(const char *path, bool is_outline, struct bb_scenario **ret_scenario,
		      struct bb_err *err)
{
	/* one byte more than the limit, to notice a file that is too large */
	size_t size = BB_YAML_MAX_BYTES + 1, len;
	FILE *file = fopen(path, "re"); /* the file may be a pipe, whose size is not known */

	if (!file)
		return bb_fail(err, -errno, "%s: cannot open the scenario: %m", path);
	char *text = bb_calloc(1, size);
	len = fread(text, 1, size, file);
	int rc = ferror(file) ? bb_fail(err, -errno, "%s: cannot read the scenario: %m", path)
			      : parse(text, len, path, is_outline, ret_scenario, err);
	fclose(file);
	free(text);
	return rc;
}

void bb_scenario__free(struct bb_scenario *s)
{
	if (s)
		bb_arena__done(&s->arena);
	free(s);
}

int bb_scenario__add_variant(struct bb_scenario *s, const char *name, const char *like,
			     const char *object, struct bb_err *err)
{
	const struct bb_variant_spec *from = bb_scenario__variant(s, like);

	assert(from);
	if (bb_scenario__variant(s, name))
		return bb_fail(err, -EEXIST, "scenario '%s' has a variant '%s' already", s->name,
			       name);
	s->variants = bb_arena__extend(&s->arena, s->variants, s->n_variants, 1,
				       sizeof(*s->variants));
	struct bb_variant_spec *v = &s->variants[s->n_variants++];
	*v = *from;
	v->name = bb_arena__own(&s->arena, bb_strdup(name));
	if (object)
		v->object = bb_arena__own(&s->arena, bb_strdup(object));
	for (size_t i = 0; i < s->n_drives; i++) {
		struct bb_drive_spec *d = &s->drives[i];

		if (!BB_ANY(d->variants, d->n_variants, !strcmp(*it, like)))
			continue;
		d->variants = bb_arena__extend(&s->arena, d->variants, d->n_variants, 2,
					       sizeof(*d->variants));
		d->variants[d->n_variants++] = v->name;
	}
	return 0;
}

const char *bb_drive_name(const struct bb_drive_spec *d)
{
	return d->caches == BB_CACHES_COLD ? d->kind->cold_name
	       : d->same_input             ? d->kind->same_name
					   : bb_drive_kind_name(d->kind);
}

static bool same_first(const struct bb_inputs *a, const struct bb_inputs *b)
{
	return a->n && b->n && a->v->len == b->v->len && !memcmp(a->v->data, b->v->data, a->v->len);
}

const struct bb_drive_spec *bb_scenario__each_input(const struct bb_scenario *s,
						    const struct bb_drive_spec *same, size_t n)
{
	return BB_FIND(s->drives, s->n_drives,
		       it->kind == same->kind && !it->same_input && it->inputs.n >= n &&
			       same_first(&it->inputs, &same->inputs));
}

/* Returns the kind of the drive's twin (enum bb_twin), or NULL if the drive cannot have this
 * twin. */
static const struct bb_drive_kind *kind_of_twin(const struct bb_drive_spec *d, enum bb_twin twin)
{
	if (twin == BB_TWIN_COLD)
		return d->kind->cold_name ? d->kind : NULL;
	if (strcmp(d->kind->with, "step") || d->caches == BB_CACHES_COLD || d->order)
		return NULL;
	return bb_drive_kind_find("lines", d->event ? d->event : d->kind->by[0]);
}

int bb_scenario__add_twins(struct bb_scenario *s, enum bb_twin twin, struct bb_err *err)
{
	bool by_line = twin == BB_TWIN_LINES;
	size_t n = s->n_drives, n_twins = 0;

	for (size_t i = 0; i < n; i++) {
		const struct bb_drive_spec *d = &s->drives[i];

		if (by_line ? d->kind->by_line : d->caches == BB_CACHES_COLD)
			return 0;
		n_twins += kind_of_twin(d, twin) != NULL;
	}
	if (!n_twins)
		return bb_fail(err, -EINVAL,
			       "scenario '%s' has no drive 'with: step', and no other drive can %s",
			       s->name, by_line ? "time lines" : "empty caches");
	s->drives = bb_arena__extend(&s->arena, s->drives, n, n_twins, sizeof(*s->drives));
	for (size_t i = 0; i < n; i++) {
		const struct bb_drive_kind *kind = kind_of_twin(&s->drives[i], twin);
		struct bb_drive_spec *d = &s->drives[s->n_drives];

		if (!kind)
			continue;
		s->n_drives++;
		*d = s->drives[i];
		d->kind = kind;
		d->caches = by_line ? d->caches : BB_CACHES_COLD;
		d->samples = 0;
		d->seconds = 0;
	}
	return 0;
}

static bool has_list(const struct bb_map_spec *map)
{
	return map->fill.counts.n > 1;
}

/* All maps with several counts must share one list, which is stored in s->fill_counts. */
static int find_counts(struct bb_scenario *s, struct bb_err *err)
{
	struct bb_u32_list *found = &s->fill_counts;

	for (size_t i = 0; i < s->n_variants; i++)
		for (size_t k = 0; k < s->variants[i].maps.n; k++) {
			const struct bb_map_spec *map = &s->variants[i].maps.v[k];
			const struct bb_u32_list *counts = &map->fill.counts;

			if (!has_list(map))
				continue;
			if (!found->n)
				*found = *counts;
			if (found->n != counts->n ||
			    memcmp(found->v, counts->v, counts->n * sizeof(*counts->v)) != 0)
				return bb_fail(err, -EINVAL,
					       "%s:%u:%u: map '%s' has other counts than another "
					       "map; maps that are filled to several sizes grow "
					       "together, so give the same list",
					       s->path, map->where.line, map->where.col, map->name);
		}
	return 0;
}

/* Checks that every drive can measure maps that are filled to several sizes. A drive that counts
 * can. Any other drive must fire single runs, must not measure for a given time, and must have no
 * other parameter with several values. */
static int check_one_parameter(const struct bb_scenario *s, struct bb_err *err)
{
	for (size_t i = 0; i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];
		bool has_more = (d->inputs.n > 1 && !d->order) || d->values.n > 1;

		if (d->kind->counts || (!has_more && d->kind->fires && !(d->kind->seconds > 0)))
			continue;
		return bb_fail(err, -EINVAL,
			       has_more ? "%s:%u:%u: this drive has several %s, and a map is "
					  "filled "
					  "to several sizes; one of the two can vary in a run"
					: "%s:%u:%u: a map is filled to several sizes, and this "
					  "drive, %s, does not fire single runs; 'with: step' and "
					  "'with: slope' do",
			       s->path, d->where.line, d->where.col,
			       !has_more         ? bb_drive_name(d)
			       : d->inputs.n > 1 ? "inputs"
						 : d->kind->param);
	}
	return 0;
}

/* Appends a copy of `from` to the variants. If a map has several counts, appends one copy for each
 * count. */
static void spread(struct bb_scenario *s, const struct bb_variant_spec *from)
{
	bool is_spread = BB_ANY(from->maps.v, from->maps.n, has_list(it));

	for (size_t i = 0; i < (is_spread ? s->fill_counts.n : 1); i++) {
		struct bb_variant_spec *v = &s->variants[s->n_variants++];

		*v = *from;
		v->maps.v = bb_arena__extend(&s->arena, from->maps.v, from->maps.n, 0,
					     sizeof(*v->maps.v));
		v->fill_count = is_spread ? s->fill_counts.v[i] : 0;
		for (size_t k = 0; k < v->maps.n; k++)
			if (has_list(&v->maps.v[k]))
				v->maps.v[k].fill.count = v->fill_count;
	}
}

int bb_scenario__spread_fills(struct bb_scenario *s, struct bb_err *err)
{
	const struct bb_variant_spec *before = s->variants;
	size_t n = s->n_variants;
	int rc = find_counts(s, err);

	if (!rc && s->fill_counts.n)
		rc = check_one_parameter(s, err);
	if (rc || !s->fill_counts.n)
		return rc;
	s->variants = bb_arena__own(&s->arena,
				    bb_calloc(n * s->fill_counts.n, sizeof(*s->variants)));
	s->n_variants = 0;
	for (size_t i = 0; i < n; i++)
		spread(s, &before[i]);
	return 0;
}
