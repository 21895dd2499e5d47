/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/globals.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "bpf/map_contents.h"

int bb_global__find(struct bpf_object *obj, const char *name, struct bpf_map **ret_map,
		    size_t *ret_offset, size_t *ret_size)
{
	const struct btf *btf = bpf_object__btf(obj);
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;

	for (__u32 id = 1; id < n_types; id++) {
		const struct btf_type *sec = btf__type_by_id(btf, id);
		const struct btf_var_secinfo *vars;
		const char *sec_name;

		if (!sec || !btf_is_datasec(sec))
			continue;
		sec_name = btf__name_by_offset(btf, sec->name_off);
		vars = btf_var_secinfos(sec);
		for (__u16 i = 0; i < btf_vlen(sec); i++) {
			const struct btf_type *var = btf__type_by_id(btf, vars[i].type);
			const char *var_name = var ? btf__name_by_offset(btf, var->name_off) : NULL;
			struct bpf_map *map;

			if (!var_name || strcmp(var_name, name))
				continue;
			/* by section: ".rodata", ".bss" */
			map = sec_name ? bpf_object__find_map_by_name(obj, sec_name) : NULL;
			if (!map)
				continue;
			*ret_map = map;
			*ret_offset = vars[i].offset;
			*ret_size = vars[i].size;
			return 0;
		}
	}
	return -ENOENT;
}

#define MOST_NAMES 1024u /* looked at for the nearest one */

static int say_no_global(const struct bpf_object *obj, const char *object_path, const char *name,
			 struct bb_err *err)
{
	const char **names = calloc(MOST_NAMES, sizeof(*names)), *near;
	const struct btf *btf = bpf_object__btf(obj);
	__u32 n_types = btf ? btf__type_cnt(btf) : 0;
	size_t n = 0;

	if (!names)
		return bb_fail_nomem(err);
	for (__u32 id = 1; id < n_types && n < MOST_NAMES; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *of = t && btf_is_var(t) ? btf__name_by_offset(btf, t->name_off) : NULL;

		if (of)
			names[n++] = of;
	}
	near = bb_nearest(name, names, n);
	bb_fail(err, -ENOENT, "%s has no global variable '%s'%s%s%s%s", object_path, name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "",
		near ? ""
		: n  ? "; declare it 'const volatile' in the program"
		     : "; it has no type information: build it with -g");
	free(names);
	return -ENOENT;
}

/* Its place in the initial value of its map, to change before the object is loaded. */
struct initial {
	struct bpf_map *map;
	size_t offset, size, map_size;
	char *data; /* a copy, of the whole map */
};

static int open_initial(struct bpf_object *obj, const char *object_path, const char *name,
			struct initial *ret_initial, struct bb_err *err)
{
	struct initial i = {0};
	const void *data;

	if (bb_global__find(obj, name, &i.map, &i.offset, &i.size))
		return say_no_global(obj, object_path, name, err);
	data = bpf_map__initial_value(i.map, &i.map_size);
	if (!data || i.offset + i.size > i.map_size)
		return bb_fail(err, -EINVAL, "global '%s' of %s cannot be set", name, object_path);
	i.data = malloc(i.map_size);
	if (!i.data)
		return bb_fail_nomem(err);
	memcpy(i.data, data, i.map_size);
	*ret_initial = i;
	return 0;
}

static int close_initial(struct initial *i, int rc, const char *object_path, const char *name,
			 struct bb_err *err)
{
	if (!rc) {
		rc = bpf_map__set_initial_value(i->map, i->data, i->map_size);
		if (rc)
			bb_fail(err, rc, "global '%s' of %s: %s", name, object_path, strerror(-rc));
	}
	free(i->data);
	return rc;
}

int bb_global__set(struct bpf_object *obj, const char *object_path, const char *name, int64_t value,
		   struct bb_err *err)
{
	struct initial i;
	int rc = open_initial(obj, object_path, name, &i, err);

	if (rc)
		return rc;
	if (i.size != 1 && i.size != 2 && i.size != 4 && i.size != 8)
		rc = bb_fail(err, -EINVAL,
			     "global '%s' of %s is %zu bytes; only integers can be set", name,
			     object_path, i.size);
	else if (!bb_put_integer(value, i.data + i.offset, i.size))
		rc = bb_fail(err, -ERANGE, "global '%s' of %s is %zu bytes; %lld does not fit",
			     name, object_path, i.size, (long long)value);
	return close_initial(&i, rc, object_path, name, err);
}

static int set_text(struct bpf_object *obj, const char *object_path, const char *name,
		    const char *text, struct bb_err *err)
{
	struct initial i;
	int rc = open_initial(obj, object_path, name, &i, err);

	if (rc)
		return rc;
	if (strlen(text) >= i.size) {
		rc = bb_fail(err, -ERANGE, "global '%s' of %s is %zu bytes; '%s' does not fit",
			     name, object_path, i.size, text);
	} else {
		memset(i.data + i.offset, 0, i.size);
		memcpy(i.data + i.offset, text, strlen(text));
	}
	return close_initial(&i, rc, object_path, name, err);
}

int bb_global__set_spec(struct bpf_object *obj, const char *object_path,
			const struct bb_global_spec *spec, const struct bb_self_values *self,
			struct bb_err *err)
{
	int64_t value = spec->value;

	if (spec->self == BB_SELF_COMM && self && self->comm[0])
		return set_text(obj, object_path, spec->name, self->comm, err);
	if (spec->self && (!self || !bb_self__number(spec->self, self, &value)))
		return bb_fail(err, -ENOTSUP, "global '%s': " BB_SELF_UNKNOWN, spec->name);
	return bb_global__set(obj, object_path, spec->name, value, err);
}

int bb_global__read_u64(struct bpf_object *obj, const char *name, uint64_t *ret_value)
{
	size_t offset, size, map_size;
	struct bpf_map *map;
	__u32 zero = 0;
	int rc = bb_global__find(obj, name, &map, &offset, &size);
	char *data;

	if (rc || size != sizeof(*ret_value))
		return rc ? rc : -EINVAL;
	map_size = bpf_map__value_size(map);
	if (offset + size > map_size)
		return -EINVAL;
	data = malloc(map_size);
	if (!data)
		return -ENOMEM;
	rc = bpf_map_lookup_elem(bpf_map__fd(map), &zero, data) ? -errno : 0;
	if (!rc)
		memcpy(ret_value, data + offset, sizeof(*ret_value));
	free(data);
	return rc;
}
