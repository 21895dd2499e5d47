/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bpf/kept_maps.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

struct bb_kept_map {
	char *name; /* the object's, which may be longer than the kernel's */
	int fd;
	struct bpf_map_info info;
};

static int info_of(int map_fd, struct bpf_map_info *ret_info)
{
	__u32 len = sizeof(*ret_info);

	memset(ret_info, 0, sizeof(*ret_info));
	return bpf_obj_get_info_by_fd(map_fd, ret_info, &len) ? -errno : 0;
}

static const struct bb_kept_map *kept(const struct bb_kept_maps *k, const char *name)
{
	for (size_t i = 0; k && i < k->n; i++)
		if (!strcmp(k->maps[i].name, name))
			return &k->maps[i];
	return NULL;
}

/* A pointer to an object that a program made (__kptr), a list or a tree of such. */
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

struct type_walk {
	__u32 n_types, *todo; /* todo[n], of n_types + 1 */
	size_t n;
	bool *seen;
};

static void add_type(struct type_walk *w, __u32 id)
{
	if (id >= w->n_types || w->seen[id])
		return;
	w->seen[id] = true;
	w->todo[w->n++] = id;
}

bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id)
{
	struct type_walk w = {.n_types = btf && type_id ? btf__type_cnt(btf) : 0};
	bool found = false;

	w.todo = calloc(w.n_types + 1, sizeof(*w.todo));
	w.seen = calloc(w.n_types + 1, sizeof(*w.seen));
	if (w.todo && w.seen)
		add_type(&w, type_id);
	while (w.n && !found) {
		const struct btf_type *t = btf__type_by_id(btf, w.todo[--w.n]);

		if (!t)
			continue;
		found = is_own(btf, t);
		if (btf_is_array(t))
			add_type(&w, btf_array(t)->type);
		else if (btf_is_mod(t) || btf_is_typedef(t))
			add_type(&w, t->type);
		for (__u32 i = 0; btf_is_composite(t) && i < btf_vlen(t); i++)
			add_type(&w, btf_members(t)[i].type);
	}
	free(w.seen);
	free(w.todo);
	return found;
}

/*
 * A prog array holds programs of its own load, which must not run those of another; the types of
 * objects are of a load's BTF. Of a map that is not created, libbpf 1.4 and newer has a descriptor
 * all the same, that of a memory file.
 */
static bool is_kept(const struct bpf_object *obj, const struct bpf_map *map)
{
	return bpf_map__autocreate(map) && !bpf_map__is_internal(map) &&
	       bpf_map__type(map) != BPF_MAP_TYPE_PROG_ARRAY &&
	       bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS &&
	       !bb_holds_own_objects(bpf_object__btf(obj), bpf_map__btf_value_type_id(map));
}

/* That of the lender, or of whoever lends to it; NULL: there is none. A descriptor of it for each
 * borrower would be too many. */
static const struct bb_kept_map *lent(const struct bb_kept_maps *k, const char *name,
				      const struct bb_kept_maps **ret_lender)
{
	const struct bb_kept_map *theirs = NULL;

	for (*ret_lender = k->lender; *ret_lender; *ret_lender = (*ret_lender)->lender) {
		theirs = kept(*ret_lender, name);
		if (theirs)
			break;
	}
	return theirs;
}

/* The kept map to use for `map`, which is not created yet; NULL: a new one. */
static const struct bb_kept_map *find_map(const struct bb_kept_maps *k, const struct bpf_map *map)
{
	const char *name = bpf_map__name(map);
	const struct bb_map_spec *spec = bb_map_specs__find(k->specs, name), *their_spec;
	const struct bb_kept_map *theirs;
	const struct bb_kept_maps *lender;

	if (kept(k, name))
		return kept(k, name);
	/* libbpf's: what stands there is of the probe that the program is attached to */
	if (!strncmp(name, "__bpf_usdt_", strlen("__bpf_usdt_")))
		return NULL;
	theirs = lent(k, name, &lender);
	their_spec = theirs ? bb_map_specs__find(lender->specs, name) : NULL;
	if (!theirs || !spec != !their_spec ||
	    (spec && memcmp(&spec->where, &their_spec->where, sizeof(spec->where))) ||
	    bpf_map__type(map) != theirs->info.type ||
	    bpf_map__key_size(map) != theirs->info.key_size ||
	    bpf_map__value_size(map) != theirs->info.value_size ||
	    bpf_map__map_flags(map) != theirs->info.map_flags ||
	    /* perf event arrays get their size at load */
	    (bpf_map__max_entries(map) && bpf_map__max_entries(map) != theirs->info.max_entries))
		return NULL;
	for (size_t i = 0; spec && i < spec->n_entries; i++)
		if (spec->entries[i].key.self || spec->entries[i].value.self)
			return NULL; /* different for each program */
	return theirs;
}

int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj)
	{
		const struct bb_kept_map *m = is_kept(obj, map) ? find_map(k, map) : NULL;
		int rc = m ? bpf_map__reuse_fd(map, m->fd) : 0;

		if (rc)
			return rc;
	}
	return 0;
}

int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err)
{
	const struct bb_kept_maps *lender;
	const struct bb_kept_map *theirs;
	struct bpf_map_info info;
	struct bpf_map *map;
	int rc = 0;

	bpf_object__for_each_map(map, obj)
	{
		if (rc || !is_kept(obj, map))
			continue;
		theirs = lent(k, bpf_map__name(map), &lender);
		if (!theirs || info_of(bpf_map__fd(map), &info) || info.id != theirs->info.id)
			rc = bb_kept_maps__keep_one(k, bpf_map__name(map), bpf_map__fd(map),
						    object_path, err);
	}
	return rc;
}

int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err)
{
	struct bb_kept_map m = {.fd = -1}, *new;
	int rc;

	if (kept(k, name))
		return 0;
	new = bb_append(&k->maps, &k->n, sizeof(*new));
	if (!new)
		return bb_fail_nomem(err);
	m.name = strdup(name);
	rc = m.name ? info_of(fd, &m.info) : -ENOMEM;
	m.fd = rc ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!rc && m.fd < 0)
		rc = -errno;
	if (rc) {
		free(m.name);
		k->n--;
		return bb_fail(err, rc, "%s: keeping map '%s': %s", object_path, name,
			       strerror(-rc));
	}
	*new = m;
	return bb_rings__add(&k->rings, name, &m.info, m.fd, err);
}

int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like)
{
	const struct bb_kept_maps *lender;
	const struct bb_kept_map *ours = kept(k, name), *theirs = lent(k, name, &lender);

	if (ours)
		return ours->fd;
	return theirs && theirs->info.type == like->type &&
			       theirs->info.key_size == like->key_size &&
			       theirs->info.value_size == like->value_size &&
			       theirs->info.max_entries == like->max_entries &&
			       theirs->info.map_flags == like->map_flags
		       ? theirs->fd
		       : -1;
}

const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id)
{
	struct bpf_map_info info;

	for (; k; k = k->lender)
		for (size_t i = 0; i < k->rings.n; i++)
			if (!info_of(k->rings.rings[i].map_fd, &info) &&
			    info.type == BPF_MAP_TYPE_RINGBUF && info.id == map_id)
				return &k->rings.rings[i];
	return NULL;
}

void bb_kept_maps__drop(struct bb_kept_maps *k)
{
	bb_rings__close(&k->rings);
	for (size_t i = 0; i < k->n; i++) {
		close(k->maps[i].fd);
		free(k->maps[i].name);
	}
	free(k->maps);
	k->maps = NULL;
	k->n = 0;
}

#define UNSIZED_ENTRIES 10240
#define UNSIZED_RING_BYTES (256 << 10)
#define STACK_FRAMES 127
#define MAP_TYPE_CGRP_STORAGE 32 /* 6.2 */

struct sizes {
	uint32_t key_bytes, value_bytes, entries;
};

static struct sizes sizes_of(const struct bpf_map *map)
{
	return (struct sizes){bpf_map__key_size(map), bpf_map__value_size(map),
			      bpf_map__max_entries(map)};
}

/*
 * The sizes with which the kernel takes the map. Of perf event arrays and ring buffers it takes one
 * size of keys and values alone: where an author gave that of the records, cilium/ebpf mends it.
 */
static struct sizes mended(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);
	struct sizes s = sizes_of(map);

	if (type == BPF_MAP_TYPE_STACK_TRACE && !s.value_bytes)
		s.value_bytes = STACK_FRAMES * sizeof(__u64);
	if (type == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		s.key_bytes = s.value_bytes = sizeof(__u32);
	if (type == BPF_MAP_TYPE_RINGBUF)
		s.key_bytes = s.value_bytes = 0;
	if (s.entries)
		return s;
	/* a table of its usual size does for a measurement */
	switch ((int)type) {
	case BPF_MAP_TYPE_CPUMAP: s.entries = (uint32_t)libbpf_num_possible_cpus(); break;
	case BPF_MAP_TYPE_RINGBUF: s.entries = UNSIZED_RING_BYTES; break;
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY: break; /* libbpf gives it one for each CPU */
	case BPF_MAP_TYPE_SK_STORAGE:              /* the kernel wants none */
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_STRUCT_OPS:
	case BPF_MAP_TYPE_CGROUP_STORAGE:
	case BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE: break;
	default: s.entries = type >= MAP_TYPE_CGRP_STORAGE ? 0 : UNSIZED_ENTRIES;
	}
	return s;
}

static bool are_same(struct sizes a, struct sizes b)
{
	return a.key_bytes == b.key_bytes && a.value_bytes == b.value_bytes &&
	       a.entries == b.entries;
}

/*
 * libbpf can change no pattern (its setters look for the object of a map, and a pattern has none),
 * so one of ours takes its place. Where the kernel refuses ours, libbpf says so of its own.
 */
static int mend_pattern(struct bpf_map *outer, struct bb_map_patterns *patterns, size_t i)
{
	const struct bpf_map *inner = bpf_map__inner_map(outer);
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = bpf_map__map_flags(inner),
		    .map_extra = bpf_map__map_extra(inner));
	struct sizes s = mended(inner);

	if (i == patterns->n) {
		int *fd = bb_append(&patterns->fds, &patterns->n, sizeof(*fd));

		if (!fd)
			return -ENOMEM;
		*fd = bpf_map_create(bpf_map__type(inner), NULL, s.key_bytes, s.value_bytes,
				     s.entries, &opts);
	}
	if (patterns->fds[i] >= 0)
		bpf_map__set_inner_map_fd(outer, patterns->fds[i]);
	return 0;
}

int bb_map_sizes__mend(struct bpf_object *obj, struct bb_map_patterns *patterns, struct bb_err *err)
{
	struct bpf_map *map;
	size_t i = 0;

	bpf_object__for_each_map(map, obj)
	{
		const struct bpf_map *inner = bpf_map__inner_map(map);
		struct sizes s = mended(map);

		if (!are_same(s, sizes_of(map))) {
			bpf_map__set_key_size(map, s.key_bytes);
			bpf_map__set_value_size(map, s.value_bytes);
			bpf_map__set_max_entries(map, s.entries);
		}
		if (inner && !are_same(mended(inner), sizes_of(inner)) &&
		    mend_pattern(map, patterns, i++))
			return bb_fail_nomem(err);
	}
	return 0;
}

void bb_map_patterns__done(struct bb_map_patterns *patterns)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (patterns->fds[i] >= 0)
			close(patterns->fds[i]);
	free(patterns->fds);
	*patterns = (struct bb_map_patterns){0};
}
