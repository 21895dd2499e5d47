/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/map_contents.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/bpf_info.h"
#include "bpf/target.h"
#include "plan/field.h"
#include "plan/maps_file.h"

#define MAX_NAMES 64u /* most names that a message about an unknown one compares */
/* Most prefix lengths of a fill, because key_number() reads all of them for each key. */
#define MOST_PREFIXES 256u
/* Memory for the entries that one system call reads or deletes. There is room for at least
 * SWEEP_MIN, because the kernel returns whole buckets of a hash. */
#define SWEEP_BYTES (256u << 10)
#define SWEEP_MIN 64u
/* number of entries of the list among which find_in_list() looks for one */
#define WINDOW 64u

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers are copied low bytes first");

enum way {
	BY_KEY,     /* delete all entries, then add the given ones */
	BY_INDEX,   /* overwrite all values */
	BY_PROGRAM, /* write a descriptor to each slot that gets one, and empty all others */
};

struct map_type {
	enum bpf_map_type type;
	enum way way;
	bool per_cpu;
	bool may_evict; /* true if the kernel may drop an entry to make room for another */
};

static const struct map_type types[] = {
	{BPF_MAP_TYPE_HASH, BY_KEY, false, false},
	{BPF_MAP_TYPE_PERCPU_HASH, BY_KEY, true, false},
	{BPF_MAP_TYPE_LRU_HASH, BY_KEY, false, true},
	{BPF_MAP_TYPE_LRU_PERCPU_HASH, BY_KEY, true, true},
	{BPF_MAP_TYPE_LPM_TRIE, BY_KEY, false, false},
	{BPF_MAP_TYPE_ARRAY, BY_INDEX, false, false},
	{BPF_MAP_TYPE_PERCPU_ARRAY, BY_INDEX, true, false},
	{BPF_MAP_TYPE_PROG_ARRAY, BY_PROGRAM, false, false},
	{BPF_MAP_TYPE_CGROUP_ARRAY, BY_PROGRAM, false, false},
};

struct content {
	const struct bb_map_spec *spec;
	const struct map_type *type;
	const struct bb_self_values *self;
	struct bb_steady_map *steady; /* facts from earlier loads; NULL if the map is not large */
	int fd;
	uint32_t id;
	uint32_t max_entries;
	size_t key_size, value_size; /* bytes; value_size is for one CPU */
	/* Bytes of a value in a system call. In a per-CPU map, this is a value for each CPU, each
	 * rounded up to 8 bytes. */
	size_t slot_size;
	uint8_t *entry_keys;
	/* Number of entries to write, or number of an array's elements. They are in this order:
	 * generated entries, those of the file, those listed in the scenario. */
	uint32_t n;
	/* The entries to write. Values of prog arrays and cgroup arrays are descriptors, -1 for an
	 * empty slot. */
	uint8_t *keys, *values;
	bool is_listed;   /* true if keys and values are borrowed from `steady` */
	uint32_t sweep_n; /* most entries that one system call reads or deletes */
	uint8_t *swept_keys, *swept_values, *cursor;
};

struct bb_map_contents {
	struct content *v;
	size_t n;
};

bool bb_put_integer(int64_t value, void *dest, size_t size)
{
	size_t low = size < sizeof(value) ? size : sizeof(value);
	int bits = (int)low * 8;

	if (size < sizeof(value) &&
	    (value < -(INT64_C(1) << (bits - 1)) || value >= INT64_C(1) << bits))
		return false;
	memset(dest, value < 0 ? 0xff : 0, size);
	memcpy(dest, &value, low);
	return true;
}

#define fail_at(err, rc, spec, at, fmt, ...)                                                       \
	bb_fail(err, rc, "map '%s' (scenario %u:%u): " fmt, (spec)->name, (at)->line, (at)->col,   \
		##__VA_ARGS__)

/* Writes a key or value. `{pid: self}` and the like stand for the process that fires. Its cgroup is
 * a descriptor in a cgroup array, and an id in other maps. `what` is "key" or "value". */
static int put_datum(const struct content *c, const struct bb_map_entry *entry, const char *what,
		     const struct bb_map_datum *datum, size_t size, uint8_t *dest,
		     struct bb_err *err)
{
	const struct bb_self_values *self = c->self;
	int64_t number = datum->number;
	bool is_comm = datum->self == BB_SELF_COMM;

	if (datum->self &&
	    (!self || (is_comm ? !self->comm[0] : !bb_self__number(datum->self, self, &number))))
		return fail_at(err, -ENOTSUP, c->spec, &entry->where, BB_SELF_UNKNOWN);
	memset(dest, 0, size);
	if (is_comm) {
		memcpy(dest, self->comm, size < sizeof(self->comm) ? size : sizeof(self->comm));
	} else if (datum->self && c->type->type == BPF_MAP_TYPE_CGROUP_ARRAY &&
		   size == sizeof(int)) {
		memcpy(dest, &self->cgroup_fd, size);
	} else if (datum->self || datum->is_number) {
		if (!bb_put_integer(number, dest, size) && datum->self)
			return fail_at(err, -ERANGE, c->spec, &entry->where,
				       "%lld does not fit into the %zu bytes of the map",
				       (long long)number, size);
		if (!bb_put_integer(number, dest, size))
			return fail_at(err, -ERANGE, c->spec, &entry->where,
				       "the %s %lld does not fit into the %zu bytes of the map",
				       what, (long long)number, size);
	} else if (datum->bytes.len != size) {
		return fail_at(err, -EINVAL, c->spec, &entry->where,
			       "the %s has %zu bytes, the map's have %zu", what, datum->bytes.len,
			       size);
	} else {
		memcpy(dest, datum->bytes.data, size);
	}
	return 0;
}

static int put_program(const struct content *c, const struct bb_map_entry *entry,
		       const struct bb_target *of, uint8_t *slot, struct bb_err *err)
{
	const char *names[MAX_NAMES], *name;
	size_t n = 0;
	int fd;

	for (size_t i = 0; (name = of->ops->program(of, i, &fd)); i++) {
		if (n < MAX_NAMES)
			names[n++] = name;
		if (strcmp(name, entry->program))
			continue;
		memcpy(slot, &fd, sizeof(fd));
		return 0;
	}
	return fail_at(err, -ENOENT, c->spec, &entry->where,
		       "the object has no program '%s'%s; it has: %s", entry->program,
		       bb_phrase__suggest(entry->program, names, n).text,
		       bb_phrase__join(names, n).text);
}

/* Maps each i below 2^bits to a different number below 2^bits, in an order that looks random. Each
 * step can be undone (multiplication by an odd number, xor with upper bits), so no number comes
 * twice. */
static uint64_t scramble(uint64_t i, unsigned int bits)
{
	uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;

	for (int round = 0; round < 3; round++) {
		i = (i * UINT64_C(0x9e3779b97f4a7c15) + UINT64_C(0xd1b54a32d192ed03)) & mask;
		i ^= i >> (bits / 2 + 1);
	}
	return i;
}

/* Returns how many bits of the i-th generated key hold its number. In an LPM trie, that is the
 * prefix. */
static uint32_t key_bits(const struct content *c, uint32_t i)
{
	const struct bb_u32_list *prefixes = &c->spec->fill.prefixes;
	bool is_trie = c->type->type == BPF_MAP_TYPE_LPM_TRIE;

	return prefixes->n ? prefixes->v[i % prefixes->n]
			   : (uint32_t)(c->key_size - (is_trie ? sizeof(uint32_t) : 0)) * 8;
}

/* Returns the number in the i-th generated key: `i`, or with prefix lengths, how many keys before
 * it have the same length. Key i has the length prefixes[i % n]. A length may be in `prefixes`
 * several times. */
static uint64_t key_number(const struct bb_u32_list *prefixes, uint32_t i)
{
	uint32_t at, before = 0, in_all = 0;

	if (!prefixes->n)
		return i;
	at = i % (uint32_t)prefixes->n;
	for (uint32_t k = 0; k < prefixes->n; k++) {
		before += k < at && prefixes->v[k] == prefixes->v[at];
		in_all += prefixes->v[k] == prefixes->v[at];
	}
	return (uint64_t)(i / (uint32_t)prefixes->n) * in_all + before;
}

/* A generated key is a little-endian number. In an LPM trie, it is a prefix length and a prefix
 * that begins with the number in network byte order. */
static void make_key(const struct content *c, uint32_t i, uint8_t *key)
{
	const struct bb_map_fill *fill = &c->spec->fill;
	bool is_trie = c->type->type == BPF_MAP_TYPE_LPM_TRIE;
	size_t data_at = is_trie ? sizeof(uint32_t) : 0, size = c->key_size - data_at;
	uint32_t length = key_bits(c, i), bits = length < 64 ? length : 64;
	uint64_t number = key_number(&fill->prefixes, i);

	if (fill->from.table) {
		memcpy(key, fill->from.table->keys + i * c->key_size, c->key_size);
		return;
	}
	if (fill->random)
		number = scramble(number, bits);
	if (is_trie) {
		memcpy(key, &length, sizeof(length));
		number = bits ? __builtin_bswap64(number << (64 - bits)) : 0;
	}
	memset(key + data_at, 0, size);
	memcpy(key + data_at, &number, size < sizeof(number) ? size : sizeof(number));
}

static int check_keys(const struct content *c, struct bb_err *err)
{
	const struct bb_map_fill *fill = &c->spec->fill;
	struct bb_map_table *t = fill->from.table;
	size_t size = c->key_size, n = t->is_raw ? t->n / size : t->n;
	int rc = 0;

	if (c->type->way != BY_KEY)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "the keys of an array are its indexes: leave out 'key'");
	if (fill->prefixes.n)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "keys of a file begin with their prefix length: leave out "
			       "'prefixes'");
	if (t->is_raw && t->n % size)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "%s has %zu bytes, no multiple of the %zu of a key", t->file->path,
			       t->n, size);
	if (!t->is_raw && t->n && t->key_size != size)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "%s has keys of %zu bytes, the map's have %zu", t->file->path,
			       t->key_size, size);
	if (n < fill->count)
		return fail_at(err, -E2BIG, c->spec, &c->spec->where,
			       "a fill of %u entries, but %s has %zu keys", fill->count,
			       t->file->path, n);
	if (t->is_raw && t->key_size != size) { /* the keys were checked with another key size */
		t->n_distinct = 0;
		t->key_size = size;
	}
	/* an earlier call has checked at least this many keys of the file */
	if (fill->count <= t->n_distinct)
		return 0;
	uint32_t *order = bb_map_table__order(t, fill->count);
	for (size_t i = 1; !rc && i < fill->count; i++)
		if (!memcmp(bb_map_table__key(t, order[i - 1]), bb_map_table__key(t, order[i]),
			    size))
			rc = fail_at(err, -EEXIST, c->spec, &c->spec->where,
				     "%s: the keys %u and %u are the same", t->file->path,
				     order[i - 1] + 1, order[i] + 1);
	free(order);
	if (!rc)
		t->n_distinct = fill->count;
	return rc;
}

static int check_fill(const struct content *c, struct bb_err *err)
{
	const struct bb_map_fill *fill = &c->spec->fill;
	bool is_trie = c->type->type == BPF_MAP_TYPE_LPM_TRIE;
	uint32_t bits = (uint32_t)(c->key_size - (is_trie ? sizeof(uint32_t) : 0)) * 8;
	uint32_t n = (uint32_t)fill->prefixes.n;

	if (c->type->way == BY_PROGRAM)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "this map holds programs or cgroups: give 'entries', no 'fill'");
	if (n && !is_trie)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "only the keys of an LPM trie have 'prefixes'");
	if (fill->count > c->max_entries)
		return fail_at(err, -E2BIG, c->spec, &c->spec->where,
			       "a fill of %u entries, but the map has room for %u; "
			       "'max_entries' makes it larger",
			       fill->count, c->max_entries);
	if (fill->from.table)
		return check_keys(c, err);
	if (n > MOST_PREFIXES)
		return fail_at(err, -E2BIG, c->spec, &c->spec->where,
			       "%u 'prefixes', and a fill takes at most %u", n, MOST_PREFIXES);
	for (uint32_t i = 0, step = n ? n : 1; i < step; i++) {
		/* the last key with this length has the largest number */
		uint32_t length = key_bits(c, i), left = fill->count > i ? fill->count - i - 1 : 0;
		uint64_t wanted = fill->count > i
					  ? key_number(&fill->prefixes, i + left / step * step) + 1
					  : 0;

		if (length > bits)
			return fail_at(err, -ERANGE, c->spec, &c->spec->where,
				       "a prefix of %u bits, but the keys have %u", length, bits);
		if (length < 32 && wanted > UINT64_C(1) << length)
			return fail_at(err, -E2BIG, c->spec, &c->spec->where,
				       "%" PRIu64 " entries have keys of %u bits, and there are "
				       "only %u",
				       wanted, length, UINT32_C(1) << length);
	}
	return 0;
}

/* Copies the first CPU's value to all other CPUs. */
static void spread_value(const struct content *c, uint8_t *slot)
{
	size_t step = (c->value_size + 7) / 8 * 8;

	for (size_t at = step; at < c->slot_size; at += step)
		memcpy(slot + at, slot, c->value_size);
}

/* In an array, entry i has index i, even if the scenario asks for random keys. */
static int put_fill(struct content *c, struct bb_err *err)
{
	const struct bb_map_fill *fill = &c->spec->fill;
	const struct bb_map_datum *value = &fill->value;
	struct bb_map_entry at = {.where = c->spec->where};

	if (!fill->count)
		return 0;
	int rc = check_fill(c, err);
	if (!rc && (value->is_number || value->self || value->bytes.len))
		rc = put_datum(c, &at, "value", value, c->value_size, c->values, err);
	if (rc)
		return rc;
	spread_value(c, c->values);
	for (uint32_t i = 0; i < fill->count; i++) {
		if (c->type->way == BY_KEY)
			make_key(c, i, c->keys + i * c->key_size);
		if (i)
			memcpy(c->values + i * c->slot_size, c->values, c->slot_size);
	}
	return 0;
}

/* In an array, the key of an entry is its index. */
static int put_table(struct content *c, struct bb_err *err)
{
	const struct bb_map_table *t = c->spec->table;
	bool is_hash = c->type->way == BY_KEY;
	uint32_t slot = is_hash ? c->spec->fill.count : 0;

	if (!t || !t->n)
		return 0;
	if (c->type->way == BY_PROGRAM)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "this map holds programs or cgroups: give 'entries', no 'file'");
	if (t->key_size != c->key_size || t->value_size != c->value_size)
		return fail_at(err, -EINVAL, c->spec, &c->spec->where,
			       "%s has keys of %zu bytes and values of %zu, the map's have %zu and "
			       "%zu",
			       t->file->path, t->key_size, t->value_size, c->key_size,
			       c->value_size);
	if (t->n > c->max_entries - slot)
		return fail_at(err, -E2BIG, c->spec, &c->spec->where,
			       "%s has %zu entries, and the map has room for %u", t->file->path,
			       t->n, c->max_entries - slot);
	for (size_t i = 0; i < t->n; i++, slot++) {
		const uint8_t *key = t->keys + i * c->key_size;

		if (!is_hash)
			memcpy(&slot, key, sizeof(slot));
		if (slot >= c->max_entries)
			return fail_at(err, -E2BIG, c->spec, &c->spec->where,
				       "%s has an entry %u, and the map has room for %u",
				       t->file->path, slot, c->max_entries);
		memcpy(c->keys + slot * c->key_size, key, c->key_size);
		memcpy(c->values + slot * c->slot_size, t->values + i * c->value_size,
		       c->value_size);
		spread_value(c, c->values + slot * c->slot_size);
	}
	return 0;
}

/* In an array, the key of an entry is its index. */
static int put_entries(struct content *c, const struct bb_target *of, struct bb_err *err)
{
	bool has_programs = c->type->type == BPF_MAP_TYPE_PROG_ARRAY,
	     is_hash = c->type->way == BY_KEY;

	for (size_t i = 0; i < c->spec->n_entries; i++) {
		const struct bb_map_entry *entry = &c->spec->entries[i];
		uint8_t *key = c->entry_keys + i * c->key_size, *value;
		/* in a hash, the listed entries are the last ones */
		uint32_t slot = c->n - (uint32_t)(c->spec->n_entries - i);
		int rc = put_datum(c, entry, "key", &entry->key, c->key_size, key, err);

		if (rc)
			return rc;
		for (size_t k = 0; k < i; k++)
			if (!memcmp(c->entry_keys + k * c->key_size, key, c->key_size))
				return fail_at(err, -EEXIST, c->spec, &entry->where,
					       "the key is that of the entry at %u:%u",
					       c->spec->entries[k].where.line,
					       c->spec->entries[k].where.col);
		if (!is_hash)
			memcpy(&slot, key, sizeof(slot));
		if (slot >= c->max_entries)
			return fail_at(err, -E2BIG, c->spec, &entry->where,
				       "the map has room for %u entries%s", c->max_entries,
				       is_hash ? "" : ", with keys from 0 on");
		if (has_programs != (entry->program != NULL))
			return fail_at(err, -EINVAL, c->spec, &entry->where, "%s",
				       has_programs ? "a prog array takes 'program', no 'value'"
						    : "only a prog array takes 'program', this map "
						      "takes 'value'");
		value = c->values + slot * c->slot_size;
		rc = has_programs ? put_program(c, entry, of, value, err)
				  : put_datum(c, entry, "value", &entry->value, c->value_size,
					      value, err);
		if (rc)
			return rc;
		if (!has_programs)
			spread_value(c, value);
		memcpy(c->keys + slot * c->key_size, key, c->key_size);
	}
	return 0;
}

static int make_sweep(struct content *c, struct bb_err *err)
{
	bool is_array = c->type->way != BY_KEY;

	c->sweep_n = SWEEP_BYTES / (uint32_t)(c->key_size + c->slot_size);
	if (c->sweep_n < SWEEP_MIN)
		c->sweep_n = SWEEP_MIN;
	if (is_array || c->sweep_n > c->max_entries)
		c->sweep_n = is_array ? 0 : c->max_entries;
	c->swept_keys = calloc(c->sweep_n + 1u, c->key_size);
	c->swept_values = calloc(c->sweep_n + 1u, c->slot_size);
	/* the kernel writes a cursor of 4 bytes for a hash, whatever the key size */
	c->cursor = calloc(1, c->key_size + sizeof(uint32_t));
	return c->swept_keys && c->swept_values && c->cursor
		       ? 0
		       : bb_fail(err, -ENOMEM, "out of memory");
}

/* Elements of an array that the scenario does not set keep the value 0. Those of an array of
 * programs or cgroups keep -1, an empty slot. */
static int make_room(struct content *c, struct bb_err *err)
{
	bool is_array = c->type->way != BY_KEY;
	size_t n_table = c->spec->table ? c->spec->table->n : 0;

	c->n = is_array ? c->max_entries
			: c->spec->fill.count + (uint32_t)(n_table + c->spec->n_entries);
	c->entry_keys = calloc(c->spec->n_entries + 1, c->key_size);
	c->keys = calloc(c->n + 1u, c->key_size);
	c->values = calloc(c->n + 1u, c->slot_size);
	if (!c->entry_keys || !c->keys || !c->values)
		return bb_fail(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; is_array && i < c->n; i++)
		memcpy(c->keys + i * c->key_size, &i, sizeof(i));
	if (c->type->way == BY_PROGRAM)
		memset(c->values, 0xff, c->n * c->slot_size);
	return 0;
}

static int find_type(const struct bb_map_spec *spec, uint32_t type,
		     const struct map_type **ret_type, struct bb_err *err)
{
	const char *name = libbpf_bpf_map_type_str(type), *names[BB_LEN(types)];

	for (size_t i = 0; i < BB_LEN(types); i++) {
		names[i] = libbpf_bpf_map_type_str(types[i].type);
		if (types[i].type != type)
			continue;
		*ret_type = &types[i];
		return 0;
	}
	return fail_at(err, -EINVAL, spec, &spec->where,
		       "the contents of a map of type %s cannot be given; those of these can: %s",
		       name ? name : "unknown", bb_phrase__join(names, BB_LEN(types)).text);
}

int bb_contents_map__find(const struct bb_target *of, const struct bb_map_spec *spec,
			  struct bb_contents_map *ret_map, struct bb_err *err)
{
	const char *names[MAX_NAMES];
	size_t n = 0;

	for (size_t i = 0; of->ops->map(of, i, ret_map); i++) {
		if (!strcmp(ret_map->name, spec->name))
			return 0;
		if (n < MAX_NAMES && !ret_map->is_variables)
			names[n++] = ret_map->name;
	}
	return fail_at(err, -ENOENT, spec, &spec->where, "%s has no such map%s; it has: %s",
		       of->where, bb_phrase__suggest(spec->name, names, n).text,
		       n ? bb_phrase__join(names, n).text : "none");
}

static bool is_written(const struct content *c)
{
	return c->steady && c->steady->is_steady && c->id && c->steady->written_id == c->id;
}

/* Takes the list of an earlier load, if there is one, as the entries to write. */
static bool take_list(struct content *c)
{
	if (!c->steady || !c->id || c->steady->listed_id != c->id)
		return false;
	c->keys = c->steady->keys;
	c->values = c->steady->values;
	c->n = c->steady->n;
	c->is_listed = true;
	return true;
}

static int make_content(const struct bb_target *of, const struct bb_map_spec *spec,
			struct bb_steady_map *steady, struct content *c, struct bb_err *err)
{
	struct bb_contents_map map = {.fd = -1};
	struct bpf_map_info info = {0};
	bool is_only_shaped = bb_map_spec__has_shape(spec) && !bb_map_spec__has_contents(spec) &&
			      !spec->each_run;
	uint32_t zero = 0;
	const char *why = NULL;
	int n_cpus = libbpf_num_possible_cpus(), rc = bb_contents_map__find(of, spec, &map, err);

	if (!rc && n_cpus < 0)
		rc = bb_fail(err, n_cpus, "cannot tell the number of CPUs: %m");
	if (!rc && bb_info__read(map.fd, &info)) {
		rc = -errno;
		fail_at(err, rc, spec, &spec->where, "it cannot be read: %m");
	}
	c->spec = spec;
	c->steady = steady && steady->is_large ? steady : NULL;
	c->id = info.id;
	c->self = of->kept.self;
	c->fd = -1;
	if (rc || (is_only_shaped && find_type(spec, info.type, &c->type, NULL)))
		return rc;
	rc = find_type(spec, info.type, &c->type, err);
	if (rc)
		return rc;
	if (map.is_frozen || info.map_flags & BPF_F_RDONLY_PROG)
		why = "its contents are constant";
	else if (map.is_variables && bb_map_spec__has_shape(spec))
		why = "variables have the sizes that the program gives them";
	else if (map.is_variables && bb_map_spec__has_contents(spec))
		why = "variables only get their old values back here: leave out its contents, and "
		      "set values with 'globals'";
	else if (c->type->way == BY_PROGRAM && spec->each_run)
		why = "no run changes a prog array; leave out 'reset: run'";
	if (why)
		return fail_at(err, -EINVAL, spec, &spec->where, "%s", why);
	c->fd = map.fd;
	if (is_written(c))
		return 0;
	c->max_entries = info.max_entries;
	c->key_size = info.key_size;
	c->value_size = info.value_size;
	c->slot_size = c->type->per_cpu ? (c->value_size + 7) / 8 * 8 * (size_t)n_cpus
					: c->value_size;
	rc = make_sweep(c, err);
	if (rc || take_list(c))
		return rc;
	rc = make_room(c, err);
	rc = rc ? rc : put_fill(c, err);
	rc = rc ? rc : put_table(c, err);
	rc = rc ? rc : put_entries(c, of, err);
	if (!rc && map.is_variables && bpf_map_lookup_elem(c->fd, &zero, c->values)) {
		rc = -errno;
		fail_at(err, rc, spec, &spec->where, "it cannot be read: %m");
	}
	return rc;
}

int bb_map_contents__make(const struct bb_target *of, const struct bb_map_specs *specs,
			  struct bb_steady_map *steady, struct bb_map_contents **ret_contents,
			  struct bb_err *err)
{
	struct bb_map_contents *c = bb_calloc(1, sizeof(*c));
	int rc = 0;

	c->v = bb_calloc(specs->n, sizeof(*c->v));
	for (size_t i = 0; !rc && i < specs->n; i++)
		rc = make_content(of, &specs->v[i], steady ? &steady[i] : NULL, &c->v[c->n++], err);
	if (rc)
		bb_map_contents__free(c);
	else
		*ret_contents = c;
	return rc;
}

void bb_map_contents__free(struct bb_map_contents *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		free(c->v[i].entry_keys);
		if (!c->v[i].is_listed) {
			free(c->v[i].keys);
			free(c->v[i].values);
		}
		free(c->v[i].swept_keys);
		free(c->v[i].swept_values);
		free(c->v[i].cursor);
	}
	free(c->v);
	free(c);
}

static int delete_all(const struct content *c)
{
	void *from = NULL;
	__u32 n, deleted;
	int rc;

	do {
		n = c->sweep_n;
		rc = bpf_map_lookup_and_delete_batch(c->fd, from, c->cursor, c->swept_keys,
						     c->swept_values, &n, NULL);
		from = c->cursor;
	} while (!rc);
	if (rc == -ENOENT)
		return 0;
	do { /* an LPM trie needs two calls, because no call reads and deletes its entries at
	      * once */
		deleted = n = c->sweep_n;
		rc = bpf_map_lookup_batch(c->fd, NULL, c->cursor, c->swept_keys, c->swept_values,
					  &n, NULL);
		if (rc && rc != -ENOENT)
			break;
		deleted = n;
		if (n && bpf_map_delete_batch(c->fd, c->swept_keys, &deleted, NULL))
			break;
	} while (!rc);
	if (rc == -ENOENT && deleted == n)
		return 0;
	/* without batches, delete one by one: kernels before 5.6, tries before 5.8 */
	while (!(rc = bpf_map_get_next_key(c->fd, NULL, c->cursor))) {
		rc = bpf_map_delete_elem(c->fd, c->cursor);
		if (rc)
			return rc;
	}
	return rc == -ENOENT ? 0 : rc;
}

#define MOST_TRIES 200 /* tries to write one entry, 1 ms apart */

static int write_entries(const struct content *c, uint32_t first, uint32_t n)
{
	const uint8_t *keys = c->keys + first * c->key_size,
		      *values = c->values + first * c->slot_size;
	__u32 written = n;
	int rc = 0;

	if (c->type->way != BY_PROGRAM &&
	    !bpf_map_update_batch(c->fd, keys, values, &written, NULL))
		return 0;
	for (uint32_t i = 0; !rc && i < n; i++) {
		const uint8_t *key = keys + i * c->key_size, *value = values + i * c->slot_size;
		int fd = 0;

		if (c->type->way == BY_PROGRAM)
			memcpy(&fd, value, sizeof(fd));
		if (fd < 0 && bpf_map_delete_elem(c->fd, key) && errno != ENOENT)
			rc = -errno;
		/* If a per-CPU map is not preallocated, the kernel takes the memory of new values
		 * from a reserve. If the reserve is empty, it returns -ENOMEM and refills it a
		 * little later, so we try again. */
		for (int tries = 1; fd >= 0; tries++) {
			rc = bpf_map_update_elem(c->fd, key, value, BPF_ANY);
			if (rc != -ENOMEM || tries == MOST_TRIES)
				break;
			usleep(1000);
		}
	}
	return rc;
}

/* The differences between a large map and its list (struct bb_steady_map). An entry that has only
 * moved to another position is deleted and written again. */
struct changes {
	uint8_t *extra; /* keys of entries that are not in the list */
	uint32_t n_extra, most_extra;
	struct range {
		uint32_t first, n;
	} * missing; /* entries of the list that must be written */
	size_t n_missing;
	/* entries of the list before this index are done: they are in the map or in `missing` */
	uint32_t next;
};

static void add_missing(struct changes *ch, uint32_t first, uint32_t n)
{
	struct range *last = ch->n_missing ? &ch->missing[ch->n_missing - 1] : NULL;

	if (n && last && last->first + last->n == first)
		last->n += n;
	else if (n)
		BB_PUSH(ch->missing, ch->n_missing, (struct range){first, n});
}

/* Looks for an entry of the map among the next WINDOW entries of the list. If it is there, the
 * entries before it are missing in the map, and so is the entry itself if its value differs. If it
 * is not there, the map's entry is an extra one. Returns -E2BIG if there are too many extra
 * ones. */
static int find_in_list(const struct content *c, struct changes *ch, const uint8_t *key,
			const uint8_t *value)
{
	uint32_t end = c->n - ch->next > WINDOW ? ch->next + WINDOW : c->n, at = ch->next;

	while (at < end && memcmp(c->keys + at * c->key_size, key, c->key_size))
		at++;
	if (at < end) {
		bool differs = memcmp(c->values + at * c->slot_size, value, c->slot_size);

		add_missing(ch, ch->next, at - ch->next + differs);
		ch->next = at + 1;
		return 0;
	}
	if (ch->n_extra == ch->most_extra)
		return -E2BIG;
	memcpy(ch->extra + ch->n_extra++ * c->key_size, key, c->key_size);
	return 0;
}

static int find_changes(const struct content *c, struct changes *ch)
{
	void *from = NULL;
	int rc, wrong = 0;

	do {
		__u32 n = c->sweep_n;

		rc = bpf_map_lookup_batch(c->fd, from, c->cursor, c->swept_keys, c->swept_values,
					  &n, NULL);
		if (rc && rc != -ENOENT)
			return rc;
		from = c->cursor;
		if (n <= c->n - ch->next &&
		    !memcmp(c->keys + ch->next * c->key_size, c->swept_keys, n * c->key_size) &&
		    !memcmp(c->values + ch->next * c->slot_size, c->swept_values,
			    n * c->slot_size)) {
			ch->next += n;
			continue;
		}
		for (uint32_t i = 0; !wrong && i < n; i++)
			wrong = find_in_list(c, ch, c->swept_keys + i * c->key_size,
					     c->swept_values + i * c->slot_size);
	} while (!rc && !wrong);
	add_missing(ch, ch->next, c->n - ch->next);
	return wrong;
}

/* Makes the map equal to its list again. After an error, the whole map must be written. */
static int put_back(const struct content *c)
{
	struct changes ch = {.most_extra = c->n / 8 + WINDOW};

	ch.extra = bb_calloc(ch.most_extra, c->key_size);
	int rc = find_changes(c, &ch);
	for (uint32_t i = 0; !rc && i < ch.n_extra; i++)
		rc = bpf_map_delete_elem(c->fd, ch.extra + i * c->key_size);
	for (size_t i = 0; !rc && i < ch.n_missing; i++)
		rc = write_entries(c, ch.missing[i].first, ch.missing[i].n);
	free(ch.extra);
	free(ch.missing);
	return rc;
}

/* Keeps the entries of a map that has just been written as its list. After an error, the map has no
 * list and is always written as a whole. */
static void make_list(struct content *c)
{
	struct bb_steady_map *s = c->steady;
	uint32_t n = 0, room = c->n;
	uint8_t *keys = bb_calloc(room + 1u, c->key_size),
		*values = bb_calloc(room + 1u, c->slot_size);
	void *from = NULL;
	int rc;

	do {
		__u32 more = c->sweep_n;

		rc = bpf_map_lookup_batch(c->fd, from, c->cursor, c->swept_keys, c->swept_values,
					  &more, NULL);
		if (rc && rc != -ENOENT)
			break;
		if (more > room - n) {
			rc = -E2BIG;
			break;
		}
		memcpy(keys + n * c->key_size, c->swept_keys, more * c->key_size);
		memcpy(values + n * c->slot_size, c->swept_values, more * c->slot_size);
		n += more;
		from = c->cursor;
	} while (!rc);
	if (rc != -ENOENT) {
		free(keys);
		free(values);
		return;
	}
	free(c->keys);
	free(c->values);
	free(s->keys);
	free(s->values);
	s->keys = keys;
	s->values = values;
	s->n = n;
	s->listed_id = c->id;
	take_list(c);
}

void bb_steady_maps__free(struct bb_steady_map *maps, size_t n)
{
	for (size_t i = 0; maps && i < n; i++) {
		free(maps[i].keys);
		free(maps[i].values);
	}
	free(maps);
}

static int write_content(struct content *c)
{
	if (!c->type || is_written(c))
		return 0;
	if (c->is_listed && !put_back(c))
		return 0;
	int rc = c->type->way == BY_KEY ? delete_all(c) : 0;
	if (!rc && c->n)
		rc = write_entries(c, 0, c->n);
	/* an LRU map gets no list, because only writing all of it sets the order of its entries */
	if (!rc && c->steady && !c->steady->is_steady && !c->is_listed && c->type->way == BY_KEY &&
	    !c->type->may_evict)
		make_list(c);
	return rc;
}

int bb_map_contents__write(struct bb_map_contents *contents, struct bb_err *err)
{
	for (struct content *c = contents->v; c < contents->v + contents->n; c++) {
		const struct bb_map_spec *spec = c->spec;
		int rc = write_content(c);

		if (rc)
			return fail_at(err, rc, spec, &spec->where, "it cannot be written: %s",
				       strerror(-rc));
		if (c->steady && c->steady->is_steady)
			c->steady->written_id = c->id;
		/* an LRU hash may evict entries before it is full, if its free entries belong to
		 * other CPUs */
		for (uint32_t i = 0; i < c->n && c->type->may_evict; i++)
			if (bpf_map_lookup_elem(c->fd, c->keys + i * c->key_size, c->swept_values))
				return fail_at(err, -ENOSPC, spec, &spec->where,
					       "this LRU hash has room for %u entries and evicted "
					       "some of these %u at once; give it a larger "
					       "max_entries",
					       c->max_entries, c->n);
	}
	return 0;
}

int bb_map_contents__write_for_run(struct bb_map_contents *c)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->n; i++)
		if (c->v[i].spec->each_run)
			rc = write_content(&c->v[i]);
	return rc;
}

bool bb_map_contents__has_map(const struct bb_map_contents *c, int map_fd)
{
	return BB_ANY(c->v, c->n, it->fd == map_fd);
}
