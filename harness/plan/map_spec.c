/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the key `maps` of a scenario and of a variant. */
#include "plan/field.h"

#include <linux/bpf.h>

#include "base/parse.h"
#include "plan/keys_file.h"

/* the kernel may accept fewer bytes, such as 32768 in a per-CPU value (PCPU_MIN_UNIT_SIZE) */
#define DATUM_MAX_BYTES 65536
#define FILL_MAX (16u << 20) /* most entries that `fill` generates for a map */

static const char *const no_yes[] = {"no", "yes"};
static const char *const resets[] = {"load", "run"};

const char *bb_self_name(enum bb_self self)
{
	static const char *const names[] = {[BB_SELF_PID] = "pid",
					    [BB_SELF_PID_TGID] = "pid_tgid",
					    [BB_SELF_COMM] = "comm",
					    [BB_SELF_CGROUP] = "cgroup"};

	return (size_t)self < BB_LEN(names) ? names[self] : NULL;
}

int bb_field__self(const struct bb_reader *r, const struct bb_yaml *node, const char *what,
		   enum bb_self *ret_self)
{
	const struct bb_yaml *value = node->n == 1 ? &node->items[1] : NULL;

	for (size_t i = 1; value && bb_self_name((enum bb_self)i); i++)
		if (!strcmp(node->items[0].text, bb_self_name((enum bb_self)i)) &&
		    value->kind == BB_YAML_TEXT && !strcmp(value->text, "self")) {
			*ret_self = (enum bb_self)i;
			return 0;
		}
	return bb_yaml__fail(r, node,
			     "%s: a mapping here is {pid: self}, {pid_tgid: self}, {comm: self} or "
			     "{cgroup: self}, of the process that fires",
			     what);
}

static int read_datum(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct bb_map_datum *datum = bb_field__member(f, base);
	struct bb_field hex = *f;

	if (node->kind == BB_YAML_MAP)
		return bb_field__self(r, node, f->name, &datum->self);
	if (node->kind == BB_YAML_TEXT && node->quoted) {
		hex.offset += offsetof(struct bb_map_datum, bytes);
		return bb_field__hex(r, &hex, node, base);
	}
	int rc = node->kind == BB_YAML_TEXT ? bb_parse_i64(node->text, &datum->number) : -EINVAL;
	if (rc == -ERANGE)
		return bb_yaml__fail(r, node,
				     "%s does not fit into 64 bits with a sign: %s; write its "
				     "bytes in quotes",
				     f->name, bb_yaml__show(node).text);
	if (rc)
		return bb_yaml__fail(r, node,
				     "%s must be a whole number, or bytes in quotes such as \"0a "
				     "00\", not %s",
				     f->name, bb_yaml__show(node).text);
	datum->is_number = true;
	return 0;
}

#define DATUM_SCHEMA "{\"anyOf\": [{\"type\": [\"integer\", \"string\"]}, " BB_SCHEMA_SELF "]}"
static const struct bb_type datum_type = {read_datum, DATUM_SCHEMA};
#define DATUM(type, m) &datum_type, BB_AT(type, m), .min = 1, .max = DATUM_MAX_BYTES

static const struct bb_field entry_fields[] = {
	{"key", DATUM(bb_map_entry, key), .required = true},
	{"value", DATUM(bb_map_entry, value)},
	{"program", &bb_type_text, BB_AT(bb_map_entry, program)},
};

static int read_entry(const struct bb_reader *r, const struct bb_yaml *node, void *item);

static const struct bb_kind entry_kind = {BB_KIND("an entry", "{key: 1, value: 2}", entry_fields),
					  BB_ITEM(bb_map_entry), .read = read_entry};

static int read_entry(const struct bb_reader *r, const struct bb_yaml *node, void *item)
{
	int rc = bb_kind__read(r, &entry_kind, node, 0, item);

	if (!rc && !bb_yaml__get(node, "value") == !bb_yaml__get(node, "program"))
		rc = bb_yaml__fail(r, node,
				   "an entry needs either the key 'value' or, in a prog array, the "
				   "key 'program'");
	return rc;
}

static void let_file_go(void *file)
{
	bb_maps_file__let_go(file);
}

/* read_map() reads the file later, because it needs the map's name, which another key gives. */
static const struct bb_type table_type = {.schema = BB_SCHEMA_TEXT};

static const char *const fill_keys[] = {"sequential", "random"};

static const struct bb_field keys_fields[] = {
	{"file", &bb_type_text, BB_AT(bb_fill_keys, file)},
	{"from", &bb_type_list, BB_LIST_AT(bb_fill_keys, inputs.v, inputs.n), .of = &bb_input_kind,
	 .read = bb_field__inputs},
	{"bytes", &bb_type_text, BB_AT(bb_fill_keys, bytes)},
};
static const struct bb_kind keys_kind = {BB_KIND("key", "{file: keys.csv}", keys_fields)};

/* Reads {file: ...} or {from: ..., bytes: ...}. In the second form, makes the table of keys from
 * the inputs. */
static int read_keys(const struct bb_reader *r, const struct bb_yaml *node,
		     struct bb_fill_keys *keys)
{
	struct bb_err why = {0};
	int rc = bb_kind__read(r, &keys_kind, node, 0, keys);

	if (rc)
		return rc;
	if (!keys->file == !keys->inputs.n || !keys->bytes == !keys->file)
		return bb_yaml__fail(r, node,
				     "key takes either 'file', or 'from' and 'bytes': inputs, and "
				     "which of their bytes are a key");
	if (keys->file)
		return 0;
	if (bb_keys_of_inputs(&keys->inputs, keys->bytes, &keys->table, &why))
		return bb_yaml__fail(r, bb_yaml__get(node, "bytes"), "bytes: %s", why.msg);
	return 0;
}

/* Reads the value of the key `key` of `fill`: `sequential`, `random`, or where the keys are. */
static int read_fill_key(const struct bb_reader *r, const struct bb_field *f,
			 const struct bb_yaml *node, void *base)
{
	struct bb_fill_keys *keys = &((struct bb_map_fill *)base)->from;
	struct bb_arena inputs = {0}; /* their keys are copied, so they need not stay in memory */
	struct bb_reader reader = *r;

	if (node->kind != BB_YAML_MAP)
		return bb_type_flag.read(r, f, node, base);
	reader.arena = &inputs;
	int rc = read_keys(&reader, node, keys);
	bb_arena__done(&inputs);
	keys->inputs = (struct bb_inputs){0};
	if (keys->table)
		bb_arena__hold(r->arena, keys->table->file, let_file_go);
	return rc;
}

static const struct bb_field fill_fields[] = {
	{"count", &bb_type_u32_list, BB_LIST_AT(bb_map_fill, counts.v, counts.n), .required = true,
	 .min = 1, .max = FILL_MAX},
	{"key", &bb_type_flag, BB_AT(bb_map_fill, random), .choices = fill_keys,
	 .n_choices = BB_LEN(fill_keys), .read = read_fill_key, .mapping = &keys_kind},
	{"prefixes", &bb_type_u32_list, BB_LIST_AT(bb_map_fill, prefixes.v, prefixes.n), .min = 1,
	 .max = 2048, .may_repeat = true},
	{"value", DATUM(bb_map_fill, value)},
};

static const struct bb_kind fill_kind = {
	BB_KIND("fill", "{count: 1000, key: random}", fill_fields)};

static const char *const flag_names[] = {"no_prealloc", "no_common_lru", "stack_build_id",
					 "mmapable"};
static const uint32_t flag_bits[] = {BPF_F_NO_PREALLOC, BPF_F_NO_COMMON_LRU, BPF_F_STACK_BUILD_ID,
				     BPF_F_MMAPABLE};

static int read_flags(const struct bb_reader *r, const struct bb_field *f,
		      const struct bb_yaml *node, void *base)
{
	struct bb_map_shape *shape = bb_field__member(f, base);
	struct bb_field list = {.name = f->name, .choices = f->choices, .n_choices = f->n_choices};
	uint32_t names = 0;
	int rc = bb_type_names.read(r, &list, node, &names);

	shape->has_flags = true;
	for (size_t i = 0; i < BB_LEN(flag_bits); i++)
		shape->flags |= names & BB_BIT(i) ? flag_bits[i] : 0;
	return rc;
}

#define SIZE .type = &bb_type_u32, .min = 1, .max = UINT32_MAX
#define FLAGS                                                                                      \
	&bb_type_names, .read = read_flags, .choices = flag_names, .n_choices = BB_LEN(flag_names)

static const struct bb_field inner_fields[] = {
	{"max_entries", SIZE, BB_AT(bb_map_shape, max_entries)},
	{"value_size", SIZE, BB_AT(bb_map_shape, value_size)},
	{"flags", .offset = 0, .type = FLAGS},
};
static const struct bb_kind inner_kind = {BB_KIND("inner", "{max_entries: 1000}", inner_fields)};

static const struct bb_field map_fields[] = {
	{"name", &bb_type_text, BB_AT(bb_map_spec, name), .required = true},
	{"entries", &bb_type_list, BB_LIST_AT(bb_map_spec, entries, n_entries), .of = &entry_kind,
	 .item = "entries such as {key: 1, value: 2}; leave it out for an empty map"},
	{"fill", &bb_type_part, BB_AT(bb_map_spec, fill), .of = &fill_kind},
	{"file", &table_type, BB_AT(bb_map_spec, table)},
	{"max_entries", SIZE, BB_AT(bb_map_spec, shape.max_entries)},
	{"value_size", SIZE, BB_AT(bb_map_spec, shape.value_size)},
	{"flags", .type = FLAGS, BB_AT(bb_map_spec, shape)},
	{"per_cpu", &bb_type_flag, BB_AT(bb_map_spec, shape.per_cpu), .choices = no_yes,
	 .n_choices = BB_LEN(no_yes)},
	{"inner", &bb_type_part, BB_AT(bb_map_spec, inner), .of = &inner_kind},
	{"reset", &bb_type_flag, BB_AT(bb_map_spec, each_run), .choices = resets,
	 .n_choices = BB_LEN(resets)},
};

/* Reads entries or, without `has_values`, only keys. `*ret_table` is the table of the map `map`. */
static int read_file(const struct bb_reader *r, const struct bb_yaml *node, const char *map,
		     bool has_values, struct bb_map_table **ret_table)
{
	static const struct bb_field key = {.name = "file"};
	struct bb_err why = {0};
	char *path;
	int rc = bb_field__path(r, &key, node, &path);

	if (rc)
		return rc;
	if (has_values ? bb_maps_file__read_table(path, map, ret_table, &why)
		       : bb_keys_file__read(path, map, ret_table, &why))
		return bb_yaml__fail(r, node, "%s", why.msg);
	bb_arena__hold(r->arena, (*ret_table)->file, let_file_go);
	return 0;
}

static int read_map(const struct bb_reader *r, const struct bb_yaml *node, void *item)
{
	const struct bb_yaml *from, *fill, *key;
	struct bb_map_spec *map = item;
	int rc = bb_kind__read(r, &bb_map_kind, node, 0, map);

	if (rc)
		return rc;
	from = bb_yaml__get(node, "file");
	if (from)
		rc = read_file(r, from, map->name, true, &map->table);
	if (rc || !map->fill.from.file)
		return rc;
	fill = bb_yaml__get(node, "fill");
	key = bb_yaml__get(fill, "key");
	return read_file(r, bb_yaml__get(key, "file"), map->name, false, &map->fill.from.table);
}

const struct bb_kind bb_map_kind = {
	BB_KIND("a map", "{name: allow, entries: [{key: 1, value: 2}]}", map_fields),
	BB_ITEM(bb_map_spec),
	.read = read_map,
	.noun = "map",
};

bool bb_map_spec__has_contents(const struct bb_map_spec *spec)
{
	return spec->n_entries || spec->fill.count || spec->table;
}

static bool has_shape(const struct bb_map_shape *s)
{
	return s->max_entries || s->value_size || s->has_flags || s->per_cpu;
}

bool bb_map_spec__has_shape(const struct bb_map_spec *spec)
{
	return has_shape(&spec->shape) || has_shape(&spec->inner);
}

void bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from,
			   struct bb_arena *arena)
{
	list->v = bb_arena__extend(arena, list->v, list->n, from->n, sizeof(*list->v));
	for (size_t i = 0; i < from->n; i++)
		if (!bb_map_specs__find(list, from->v[i].name))
			list->v[list->n++] = from->v[i];
}

void bb_map_specs__add_entry(struct bb_map_specs *list, const char *name,
			     const struct bb_map_entry *entry, struct bb_arena *arena)
{
	struct bb_map_spec *s = BB_FIND(list->v, list->n, !strcmp(it->name, name));

	if (!s)
		return;
	s->entries = bb_arena__extend(arena, s->entries, s->n_entries, 1, sizeof(*entry));
	s->entries[s->n_entries++] = *entry;
}

const struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name)
{
	return BB_FIND(list->v, list ? list->n : 0, !strcmp(it->name, name));
}

bool bb_map_specs__call(const struct bb_map_specs *list, const char *program)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct bb_map_spec *spec = &list->v[i];

		if (BB_ANY(spec->entries, spec->n_entries,
			   it->program && !strcmp(it->program, program)))
			return true;
	}
	return false;
}
