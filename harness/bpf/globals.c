/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/globals.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/parse.h"
#include "bpf/code.h"
#include "bpf/map_contents.h"

/* Finds a member such as "a" or "a.b" of a struct, and adds its offset in bytes to *offset. */
static bool find_member(const struct btf *btf, __u32 type_id, const char *path, size_t *offset,
			size_t *ret_size)
{
	const struct btf_type *t = btf__type_by_id(btf, (__u32)btf__resolve_type(btf, type_id));
	size_t len = strcspn(path, ".");

	for (__u16 i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(btf, m->name_off);
		__s64 size = btf__resolve_size(btf, m->type);

		if (!name || strlen(name) != len || memcmp(name, path, len))
			continue;
		if (size < 0 || btf_member_bitfield_size(t, i))
			return false;
		*offset += btf_member_bit_offset(t, i) / 8;
		*ret_size = (size_t)size;
		return !path[len] || find_member(btf, m->type, path + len + 1, offset, ret_size);
	}
	return false;
}

bool bb_btf_variable(const struct btf *btf, const struct btf_type *section, const char *name,
		     size_t *ret_offset, size_t *ret_size)
{
	size_t len = strcspn(name, ".");

	for (__u16 i = 0; i < btf_vlen(section); i++) {
		const struct btf_var_secinfo *var = &btf_var_secinfos(section)[i];
		const struct btf_type *t = btf__type_by_id(btf, var->type);
		const char *text = bb_btf_name(btf, var->type);

		if (!t || !btf_is_var(t) || !text || strlen(text) != len || memcmp(text, name, len))
			continue;
		*ret_offset = var->offset;
		*ret_size = var->size;
		return !name[len] ||
		       find_member(btf, t->type, name + len + 1, ret_offset, ret_size);
	}
	return false;
}

int bb_global__find(struct bpf_object *obj, const char *name, struct bpf_map **ret_map,
		    size_t *ret_offset, size_t *ret_size)
{
	const struct btf *btf = bpf_object__btf(obj);
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;

	for (__u32 id = 1; id < n_types; id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);
		const char *sec_name = sec && btf_is_datasec(sec)
					       ? btf__name_by_offset(btf, sec->name_off)
					       : NULL;

		if (!sec_name || !bb_btf_variable(btf, sec, name, ret_offset, ret_size))
			continue;
		/* libbpf makes a map of each section of variables, such as ".rodata" or ".bss" */
		*ret_map = bpf_object__find_map_by_name(obj, sec_name);
		if (*ret_map)
			return 0;
	}
	return -ENOENT;
}

/* The message about an unknown name compares it with at most this many names. */
#define MOST_NAMES 1024u

static int say_no_global(const struct bpf_object *obj, const char *object_path, const char *name,
			 struct bb_err *err)
{
	const char **names = bb_calloc(MOST_NAMES, sizeof(*names)), *near;
	const struct btf *btf = bpf_object__btf(obj);
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;
	size_t n = 0;

	for (__u32 id = 1; id < n_types && n < MOST_NAMES; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *of = t && btf_is_var(t) ? btf__name_by_offset(btf, t->name_off) : NULL;

		if (of)
			names[n++] = of;
	}
	near = bb_nearest(name, names, n);
	bb_fail(err, -ENOENT, "%s has no global variable '%s'%s", object_path, name,
		bb_did_you_mean(near, n ? "; declare it 'const volatile' in the program"
					: "; it has no type information: build it with -g")
			.text);
	free(names);
	return -ENOENT;
}

int bb_global__set(struct bpf_object *obj, const char *object_path,
		   const struct bb_global_spec *spec, const struct bb_self_values *self,
		   struct bb_err *err)
{
	const char *name = spec->name,
		   *text = spec->self == BB_SELF_COMM && self && self->comm[0] ? self->comm : NULL;
	size_t offset, size, map_size;
	int64_t value = spec->value;
	struct bpf_map *map;
	int rc = 0;

	if (!text && spec->self && (!self || !bb_self__number(spec->self, self, &value)))
		return bb_fail(err, -ENOTSUP, "global '%s': " BB_SELF_UNKNOWN, name);
	if (bb_global__find(obj, name, &map, &offset, &size))
		return say_no_global(obj, object_path, name, err);
	const void *data = bpf_map__initial_value(map, &map_size);
	if (!data || offset + size > map_size)
		return bb_fail(err, -EINVAL, "global '%s' of %s cannot be set", name, object_path);
	char *copy = bb_calloc(1, map_size);
	memcpy(copy, data, map_size);
	if (text && strlen(text) >= size)
		rc = bb_fail(err, -ERANGE, "global '%s' of %s is %zu bytes; '%s' does not fit",
			     name, object_path, size, text);
	else if (text)
		strncpy(copy + offset, text, size);
	else
		rc = bb_global__put(object_path, name, value, copy + offset, size, err);
	if (!rc) {
		rc = bpf_map__set_initial_value(map, copy, map_size);
		if (rc)
			bb_fail(err, rc, "global '%s' of %s: %m", name, object_path);
	}
	free(copy);
	return rc;
}

int bb_global__put(const char *object_path, const char *name, int64_t value, void *dest,
		   size_t size, struct bb_err *err)
{
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return bb_fail(err, -EINVAL,
			       "global '%s' of %s is %zu bytes; only integers can be set", name,
			       object_path, size);
	if (!bb_put_integer(value, dest, size))
		return bb_fail(err, -ERANGE, "global '%s' of %s is %zu bytes; %lld does not fit",
			       name, object_path, size, (long long)value);
	return 0;
}

int bb_map_read_u64(int map_fd, size_t map_size, size_t offset, uint64_t *ret_value)
{
	__u32 zero = 0;

	if (offset + sizeof(*ret_value) > map_size)
		return -EINVAL;
	char *data = bb_calloc(1, map_size);
	int rc = bpf_map_lookup_elem(map_fd, &zero, data) ? -errno : 0;
	if (!rc)
		memcpy(ret_value, data + offset, sizeof(*ret_value));
	free(data);
	return rc;
}

int bb_global__read_u64(struct bpf_object *obj, const char *name, uint64_t *ret_value)
{
	size_t offset, size;
	struct bpf_map *map;
	int rc = bb_global__find(obj, name, &map, &offset, &size);

	if (rc || size != sizeof(*ret_value))
		return rc ? rc : -EINVAL;
	return bb_map_read_u64(bpf_map__fd(map), bpf_map__value_size(map), offset, ret_value);
}
