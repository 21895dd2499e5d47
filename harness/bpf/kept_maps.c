/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/kept_maps.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "base/bpf_info.h"
#include "base/caller.h"
#include "base/io.h"
#include "base/parse.h"
#include "plan/maps_file.h"

struct bb_kept_map {
	char *name; /* name in the object; the kernel keeps only 15 bytes of it */
	int fd;
	struct bpf_map_info info;
};

static bool is_own(const struct btf *btf, const struct btf_type *t)
{
	const struct btf_type *to = btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : t;
	const char *name = btf__name_by_offset(btf, to ? to->name_off : 0);

	if (!to || !name)
		return false;
	return btf_is_ptr(t) ? btf_is_type_tag(to) && strstr(name, "kptr")
			     : btf_is_struct(t) && (!strcmp(name, "bpf_list_head") ||
						    !strcmp(name, "bpf_rb_root"));
}

bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id)
{
	__u32 n_types = btf && type_id ? btf__type_cnt(btf) : 0, n = 0;
	__u32 *todo = bb_calloc(n_types, sizeof(*todo));
	bool *seen = bb_calloc(n_types, sizeof(*seen)), found = false;

	if (n_types)
		todo[n++] = type_id;
	while (n && !found) {
		const struct btf_type *t = btf__type_by_id(btf, todo[--n]);
		__u32 n_inner = !t                    ? 0
				: btf_is_composite(t) ? btf_vlen(t)
				: btf_is_array(t) || btf_is_mod(t) || btf_is_typedef(t) ? 1
											: 0;

		found = t && is_own(btf, t);
		for (__u32 i = 0; i < n_inner; i++) {
			__u32 of = btf_is_array(t)       ? btf_array(t)->type
				   : btf_is_composite(t) ? btf_members(t)[i].type
							 : t->type;

			if (of >= n_types || seen[of])
				continue;
			seen[of] = true;
			todo[n++] = of;
		}
	}
	free(seen);
	free(todo);
	return found;
}

/* True if later loads can use the map again. Values with objects of the program's own types need
 * the BTF object of one load. A map that is not created has nothing to keep, but libbpf 1.4 and
 * newer returns the descriptor of a memory file for it. */
static bool is_kept(const struct bpf_object *obj, const struct bpf_map *map)
{
	return bpf_map__autocreate(map) && !bpf_map__is_internal(map) &&
	       bpf_map__type(map) != BPF_MAP_TYPE_PROG_ARRAY &&
	       bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS &&
	       !bb_holds_own_objects(bpf_object__btf(obj), bpf_map__btf_value_type_id(map));
}

/* Finds a map by name in `k`, its lender, the lender's lender and so on. Sets *ret_keeper to the
 * one that has it. We do not copy lenders' descriptors, because there would be too many. */
static const struct bb_kept_map *find_kept(const struct bb_kept_maps *k, const char *name,
					   const struct bb_kept_maps **ret_keeper)
{
	for (; k; k = k->lender)
		for (size_t i = 0; i < k->n; i++)
			if (!strcmp(k->maps[i].name, name)) {
				*ret_keeper = k;
				return &k->maps[i];
			}
	return NULL;
}

int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like)
{
	const struct bb_map_spec *spec = bb_map_specs__find(k->specs, name), *theirs;
	const struct bb_kept_maps *keeper;
	const struct bb_kept_map *m = find_kept(k, name, &keeper);

	if (!m || keeper == k)
		return m ? m->fd : -1;
	theirs = bb_map_specs__find(keeper->specs, name);
	/* libbpf's own maps "__bpf_usdt_..." are never lent, because their contents depend on the
	 * probe */
	if (!strncmp(name, "__bpf_usdt_", strlen("__bpf_usdt_")) || !spec != !theirs ||
	    (spec && (memcmp(&spec->where, &theirs->where, sizeof(spec->where)) ||
		      spec->fill.count != theirs->fill.count)) ||
	    like->type != m->info.type || like->key_size != m->info.key_size ||
	    like->value_size != m->info.value_size || like->map_flags != m->info.map_flags ||
	    /* a perf event array has 0 entries until libbpf sets one for each CPU */
	    (like->max_entries && like->max_entries != m->info.max_entries))
		return -1;
	if (spec && BB_ANY(spec->entries, spec->n_entries, it->key.self || it->value.self))
		return -1; /* `self` is the process that fires, so each program may get another
			    * value */
	return m->fd;
}

int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj)
{
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, obj)
	{
		const struct bpf_map_info like = {.type = bpf_map__type(map),
						  .key_size = bpf_map__key_size(map),
						  .value_size = bpf_map__value_size(map),
						  .max_entries = bpf_map__max_entries(map),
						  .map_flags = bpf_map__map_flags(map)};
		int fd = !rc && is_kept(obj, map) ? bb_kept_maps__get(k, bpf_map__name(map), &like)
						  : -1;

		if (fd >= 0)
			rc = bpf_map__reuse_fd(map, fd);
	}
	return rc;
}

int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err)
{
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, obj) if (!rc && is_kept(obj, map)) rc =
		bb_kept_maps__keep_one(k, bpf_map__name(map), bpf_map__fd(map), object_path, err);
	return rc;
}

int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err)
{
	const struct bb_kept_maps *keeper;
	const struct bb_kept_map *old = find_kept(k, name, &keeper);
	struct bb_kept_map m = {.fd = -1};
	int rc = bb_info__read(fd, &m.info);

	if (old && (keeper == k || (!rc && old->info.id == m.info.id)))
		return 0;
	if (!rc) {
		m.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
		rc = m.fd < 0 ? -errno : 0;
	}
	if (rc)
		return bb_fail(err, rc, "%s: keeping map '%s': %m", object_path, name);
	m.name = bb_strdup(name);
	BB_PUSH(k->maps, k->n, m);
	return bb_rings__add(&k->rings, name, &m.info, m.fd, err);
}

const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id)
{
	struct bpf_map_info info = {0};

	for (; k; k = k->lender)
		for (size_t i = 0; i < k->rings.n; i++)
			if (!bb_info__read(k->rings.rings[i].map_fd, &info) &&
			    info.type == BPF_MAP_TYPE_RINGBUF && info.id == map_id)
				return &k->rings.rings[i];
	return NULL;
}

void bb_kept_maps__let_prog_arrays_go(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* most entries that we count; two larger maps count as equally large */
#define COUNTED_MOST 100000u

uint32_t bb_map_entries(int map_fd, const struct bpf_map_info *info, uint32_t most)
{
	bool holds_ids = info->type == BPF_MAP_TYPE_PROG_ARRAY ||
			 info->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			 info->type == BPF_MAP_TYPE_HASH_OF_MAPS;
	char *key = bb_calloc(1, info->key_size);
	uint32_t n = 0, id;

	for (uint32_t i = 0; i <= info->max_entries && n < most; i++) {
		if (bpf_map_get_next_key(map_fd, i ? key : NULL, key))
			break;
		n += !holds_ids || !bpf_map_lookup_elem(map_fd, key, &id);
	}
	free(key);
	return n;
}

static uint32_t n_entries(const struct bb_kept_map *m)
{
	return bb_map_type__is_table(m->info.type) ? bb_map_entries(m->fd, &m->info, COUNTED_MOST)
						   : 0;
}

static bool holds_others(const struct bb_kept_map *m, const struct bb_kept_maps *lender)
{
	const struct bb_kept_maps *keeper;
	const struct bb_kept_map *theirs = find_kept(lender, m->name, &keeper);

	return theirs && n_entries(theirs) != n_entries(m);
}

static void drop_map(struct bb_kept_map *m)
{
	close(m->fd);
	free(m->name);
}

void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender)
{
	bb_rings__close(&k->rings);
	BB_REMOVE(k->maps, k->n, !holds_others(it, lender), drop_map(it));
	k->lender = lender;
}

void bb_kept_maps__drop(struct bb_kept_maps *k)
{
	bb_rings__close(&k->rings);
	for (size_t i = 0; i < k->n; i++)
		drop_map(&k->maps[i]);
	free(k->maps);
	k->maps = NULL;
	k->n = 0;
}

#define UNSIZED_ENTRIES 10240
#define UNSIZED_RING_BYTES (256 << 10)
#define STACK_FRAMES 127
#define MAP_TYPE_CGRP_STORAGE 32 /* Linux 6.2 */

struct sizes {
	uint32_t key_bytes, value_bytes, entries, flags;
};

/* Computes the sizes and flags of the map. Those in `shape` (may be NULL) override those of the
 * object. Some authors give ring buffers and perf event arrays the size of their records as value
 * size, which the kernel refuses. cilium/ebpf corrects such maps, and so do we. Returns false if
 * nothing changes. */
static bool mend(const struct bpf_map *map, const struct bb_map_shape *shape,
		 struct sizes *ret_sizes)
{
	enum bpf_map_type type = bpf_map__type(map);
	const struct sizes old = {bpf_map__key_size(map), bpf_map__value_size(map),
				  bpf_map__max_entries(map), bpf_map__map_flags(map)};
	struct sizes s = old;

	if (shape && shape->max_entries)
		s.entries = shape->max_entries;
	if (shape && shape->value_size)
		s.value_bytes = shape->value_size;
	if (shape && shape->has_flags)
		s.flags = shape->flags;

	if (type == BPF_MAP_TYPE_STACK_TRACE && !s.value_bytes)
		s.value_bytes = STACK_FRAMES * sizeof(__u64);
	if (type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		s.key_bytes = s.value_bytes = sizeof(__u32);
	if (type == BPF_MAP_TYPE_RINGBUF)
		s.key_bytes = s.value_bytes = 0;
	/* if the author left the size to the loader, any usual size will do */
	if (!s.entries)
		switch ((int)type) {
		case BPF_MAP_TYPE_CPUMAP: s.entries = (uint32_t)libbpf_num_possible_cpus(); break;
		case BPF_MAP_TYPE_RINGBUF: s.entries = UNSIZED_RING_BYTES; break;
		case BPF_MAP_TYPE_PERF_EVENT_ARRAY: break; /* libbpf sets one entry for each CPU */
		case BPF_MAP_TYPE_SK_STORAGE:              /* the kernel requires 0 entries */
		case BPF_MAP_TYPE_INODE_STORAGE:
		case BPF_MAP_TYPE_TASK_STORAGE:
		case BPF_MAP_TYPE_STRUCT_OPS:
		case BPF_MAP_TYPE_CGROUP_STORAGE:
		case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE: break;
		default: s.entries = type >= MAP_TYPE_CGRP_STORAGE ? 0 : UNSIZED_ENTRIES;
		}
	*ret_sizes = s;
	return memcmp(&s, &old, sizeof(s));
}

double bb_memory_available(void)
{
	char text[4096] = "";
	const char *at = bb_root__read("/proc/meminfo", text, sizeof(text)) < 0
				 ? NULL
				 : strstr(text, "MemAvailable:");
	uint64_t kib;

	at = at ? strpbrk(at, "0123456789") : NULL;
	return at && !bb_parse_digits(&at, &kib) ? (double)kib * 1024 : INFINITY;
}

/* the kernel's memory for an entry, without its key and value, roughly */
#define ENTRY_HEAD_BYTES 64.0

/* Subtracts from `*left`, the available memory in bytes, an estimate of the kernel's memory for a
 * map and of ours for the entries that we write. Fails with -ENOMEM if too little is left. */
static int check_memory(const struct bpf_map *map, const struct sizes *s,
			const struct bb_map_spec *spec, double *left, struct bb_err *err)
{
	enum bpf_map_type type = bpf_map__type(map);
	int n_values = bb_map_type__is_per_cpu(type) ? libbpf_num_possible_cpus() : 1;
	double value = (double)s->value_bytes * n_values,
	       written = spec->fill.count + (spec->table ? (double)spec->table->n : 0),
	       entries = s->flags & BPF_F_NO_PREALLOC ? written : s->entries,
	       bytes = entries * (ENTRY_HEAD_BYTES + s->key_bytes + value) +
		       written * (s->key_bytes + value);

	if (type == BPF_MAP_TYPE_RINGBUF)
		bytes = s->entries;
	*left -= bytes;
	if (*left >= 0)
		return 0;
	return bb_fail(err, -ENOMEM,
		       "map '%s' (scenario %u:%u): it needs about %.1f GB of memory, and %.1f GB "
		       "are available; give it fewer entries",
		       spec->name, spec->where.line, spec->where.col, bytes / 1e9,
		       (*left + bytes) / 1e9);
}

int bb_map_type__per_cpu(uint32_t type)
{
	return type == BPF_MAP_TYPE_HASH       ? BPF_MAP_TYPE_PERCPU_HASH
	       : type == BPF_MAP_TYPE_LRU_HASH ? BPF_MAP_TYPE_LRU_PERCPU_HASH
	       : type == BPF_MAP_TYPE_ARRAY    ? BPF_MAP_TYPE_PERCPU_ARRAY
					       : -1;
}

static int make_per_cpu(struct bpf_map *map, const struct bb_map_spec *spec, struct bb_err *err)
{
	int of = bb_map_type__per_cpu(bpf_map__type(map));

	if (of < 0 || bpf_map__initial_value(map, NULL))
		return bb_fail(err, -EINVAL,
			       "map '%s' (scenario %u:%u): only a hash, an LRU hash and an array "
			       "can be made 'per_cpu'",
			       spec->name, spec->where.line, spec->where.col);
	return bpf_map__set_type(map, (enum bpf_map_type)of);
}

static bool seeds_are_zero;

void bb_map_seeds__zero(void)
{
	seeds_are_zero = true;
}

/* An object with maps of maps is not changed, because an inner map must have its template's
 * flags. */
static void zero_seeds(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) if (bpf_map__inner_map(map)) return;
	bpf_object__for_each_map(map, obj)
	{
		enum bpf_map_type type = bpf_map__type(map);

		if (type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH ||
		    type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH)
			bpf_map__set_map_flags(map, bpf_map__map_flags(map) | BPF_F_ZERO_SEED);
	}
}

int bb_map_sizes__mend(struct bpf_object *obj, const struct bb_map_specs *specs,
		       struct bb_map_patterns *patterns, struct bb_err *err)
{
	bool is_first = patterns->specs != specs;
	struct bpf_map *map;
	double left = is_first ? bb_memory_available() : 0;
	struct sizes s;
	size_t i = 0;
	int rc;

	if (is_first)
		bb_map_patterns__done(patterns);
	patterns->specs = specs;
	bpf_object__for_each_map(map, obj)
	{
		const struct bb_map_spec *spec = bb_map_specs__find(specs, bpf_map__name(map));
		const struct bpf_map *inner = bpf_map__inner_map(map);

		if (mend(map, spec ? &spec->shape : NULL, &s)) {
			bpf_map__set_key_size(map, s.key_bytes);
			bpf_map__set_value_size(map, s.value_bytes);
			bpf_map__set_max_entries(map, s.entries);
			bpf_map__set_map_flags(map, s.flags);
		}
		rc = spec && spec->shape.per_cpu ? make_per_cpu(map, spec, err) : 0;
		if (!rc && is_first && spec)
			rc = check_memory(map, &s, spec, &left, err);
		if (rc) {
			patterns->specs = NULL;
			return rc;
		}
		if (!inner || !mend(inner, spec ? &spec->inner : NULL, &s))
			continue;
		/* libbpf's setters do not work on the template of an inner map, so we give libbpf a
		 * map of our own as the template. If the kernel refuses our map, libbpf tries its
		 * own template and reports the error. */
		if (i == patterns->n) {
			LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = s.flags,
				    .map_extra = bpf_map__map_extra(inner));

			BB_PUSH(patterns->fds, patterns->n,
				bpf_map_create(bpf_map__type(inner), NULL, s.key_bytes,
					       s.value_bytes, s.entries, &opts));
		}
		if (patterns->fds[i] >= 0)
			bpf_map__set_inner_map_fd(map, patterns->fds[i]);
		i++;
	}
	if (seeds_are_zero)
		zero_seeds(obj);
	return 0;
}

void bb_map_patterns__done(struct bb_map_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		bb_close(&patterns->fds[i]);
	free(patterns->fds);
	*patterns = (struct bb_map_patterns){0};
}
