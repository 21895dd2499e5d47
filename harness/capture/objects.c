/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds maps, BTFs and programs to a capture, each only once, and reads the entries of the maps. */

#include <bpf/bpf.h>

#include "base/bpf_info.h"
#include "base/caller.h"
#include "base/deadline.h"
#include "capture/replay.h"
#include "capture/take.h"

void bb_take__name_map(struct bb_take *t, size_t map)
{
	struct bb_captured_map *m = &t->capture->maps[map];
	const char *name = *m->kernel_name ? m->kernel_name : "map";
	unsigned int n = 1;

	for (size_t i = 0; i < map; i++)
		n += !strcmp(t->capture->maps[i].kernel_name, m->kernel_name);
	free(m->name);
	m->name = n == 1 ? bb_strdup(name) : bb_asprintf("%s.%u", name, n);
}

/* Returns the index of the map that was inner_map_fd, or BB_CAPTURE_NONE if we did not see that. */
static int32_t template_of(const struct bb_take *t, const struct bpf_map_info *info)
{
	for (size_t i = t->n_templates; i > 0; i--) {
		const struct bb_template *made = &t->templates[i - 1];

		if (made->type == info->type && made->key_size == info->key_size &&
		    made->value_size == info->value_size &&
		    made->max_entries == info->max_entries &&
		    !strncmp(made->kernel_name, info->name, sizeof(made->kernel_name)))
			return made->inner;
	}
	return BB_CAPTURE_NONE;
}

int32_t bb_take__map(struct bb_take *t, int fd)
{
	struct bpf_map_info info = {0};
	struct bb_capture *c = t->capture;
	int rc = bb_info__read(fd, &info);
	struct bb_captured_map *m = rc ? NULL : BB_FIND(c->maps, c->n_maps, it->held.id == info.id);
	int32_t btf = BB_CAPTURE_NONE;
	char path[64], text[1024];

	/* for a BTF, the kernel fills in another struct, and leaves 0 where a map has its id */
	if (!rc && !info.id)
		rc = -EINVAL;
	if (!rc && !m && c->n_maps >= BB_CAPTURE_MAX_ITEMS)
		rc = -E2BIG;
	if (rc || m) {
		close(fd);
		return rc ? rc : (int32_t)(m - c->maps);
	}
	if (info.btf_id && (info.btf_key_type_id || info.btf_value_type_id)) {
		int btf_fd = bpf_btf_get_fd_by_id(info.btf_id);

		btf = btf_fd < 0 ? -errno : bb_take__btf(t, btf_fd);
	}
	/* struct bpf_map_info does not say whether a map is frozen (BPF_MAP_FREEZE) */
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	bb_root__read(path, text, sizeof(text));
	m = bb_append(&c->maps, &c->n_maps, sizeof(*m));
	*m = (struct bb_captured_map){
		.type = info.type,
		.key_size = info.key_size,
		.value_size = info.value_size,
		.max_entries = info.max_entries,
		.flags = info.map_flags,
		.extra = info.map_extra,
		.btf = btf < 0 ? BB_CAPTURE_NONE : btf,
		.key_type_id = info.btf_key_type_id,
		.value_type_id = info.btf_value_type_id,
		.inner = template_of(t, &info),
		.frozen = strstr(text, "frozen:\t1") != NULL,
		.held = {fd, info.id},
	};
	memcpy(m->kernel_name, info.name, sizeof(m->kernel_name) - 1);
	bb_take__name_map(t, c->n_maps - 1);
	return (int32_t)c->n_maps - 1;
}

int32_t bb_take__btf(struct bb_take *t, int fd)
{
	struct bpf_btf_info info;
	char name[64];
	int rc = bb_btf_info(fd, &info, name, sizeof(name));
	struct bb_capture *c = t->capture;
	struct bb_captured_btf *b = rc ? NULL : BB_FIND(c->btfs, c->n_btfs, it->held.id == info.id);

	if (!rc && !b && c->n_btfs >= BB_CAPTURE_MAX_ITEMS)
		rc = -E2BIG;
	if (rc || b) {
		close(fd);
		return rc ? rc : (int32_t)(b - c->btfs);
	}
	b = bb_append(&c->btfs, &c->n_btfs, sizeof(*b));
	if (info.kernel_btf)
		snprintf(b->module, sizeof(b->module), "%s", name);
	b->held = (struct bb_held_object){fd, info.id};
	return (int32_t)c->n_btfs - 1;
}

struct bb_seen_prog *bb_take__seen(struct bb_take *t, int fd)
{
	struct bpf_prog_info info = {0};

	if (bb_info__read(fd, &info))
		return NULL;
	struct bb_seen_prog *s = BB_FIND(t->seen, t->n_seen, it->id == info.id);
	if (s)
		return s;
	s = bb_append(&t->seen, &t->n_seen, sizeof(*s));
	*s = (struct bb_seen_prog){.id = info.id, .type = info.type, .prog = BB_CAPTURE_NONE};
	memcpy(s->tag, info.tag, sizeof(s->tag));
	memcpy(s->kernel_name, info.name, sizeof(s->kernel_name) - 1);
	return s;
}

struct bb_captured_attachment *bb_take__attachment(struct bb_take *t, uint32_t prog_id,
						   const char *kind)
{
	if (t->capture->n_attachments >= BB_CAPTURE_MAX_ITEMS)
		return NULL;
	struct bb_captured_attachment *a = bb_append(&t->capture->attachments,
						     &t->capture->n_attachments, sizeof(*a));
	*a = (struct bb_captured_attachment){.prog = BB_CAPTURE_NONE,
					     .n = 1,
					     .taken = {.prog_id = prog_id, .fd = -1}};
	snprintf(a->kind, sizeof(a->kind), "%s", kind);
	return a;
}

#define CHUNK_BYTES (4u << 20) /* limit: bytes of entries to read at once */

struct gather {
	struct bb_blob keys, values;
	size_t keys_room, values_room;
	size_t key_size, value_size;
	size_t n, max_bytes;
	/* true if zero values are left out, because the values of a new array are zero */
	bool skips_zero;
};

static void append_bytes(struct bb_blob *b, size_t *room, const void *data, size_t size)
{
	bb_reserve(&b->data, b->size + size, room, 1);
	if (size) /* both pointers may be NULL if size is 0, and memcpy() must not get NULL */
		memcpy(b->data + b->size, data, size);
	b->size += size;
}

static int add_entry(struct gather *g, const char *key, const char *value)
{
	if (g->skips_zero && !*value && !memcmp(value, value + 1, g->value_size - 1))
		return 0;
	if (g->keys.size + g->values.size + g->key_size + g->value_size > g->max_bytes)
		return -EFBIG;
	g->n++;
	append_bytes(&g->keys, &g->keys_room, key, g->key_size);
	append_bytes(&g->values, &g->values_room, value, g->value_size);
	return 0;
}

/* Returns 0, -ENOTSUP if this map cannot be read in batches, -EFBIG if it is too large, or
 * -errno. */
static int read_in_batches(int fd, struct gather *g)
{
	size_t each = g->key_size + g->value_size;
	__u32 room = (__u32)(each < CHUNK_BYTES / 16 ? CHUNK_BYTES / each : 16), n = room;
	size_t cursor = g->key_size > sizeof(__u32) ? g->key_size : sizeof(__u32);
	char *from = bb_calloc(2, cursor), *to = from + cursor;
	char *keys = bb_calloc(room, g->key_size), *values = bb_calloc(room, g->value_size);
	bool first = true, more = true;
	int rc = 0;

	while (!rc && more) {
		n = room;
		more = !bpf_map_lookup_batch(fd, first ? NULL : from, to, keys, values, &n, NULL);
		if (!more && errno != ENOENT) {
			rc = first ? -ENOTSUP : -errno;
			break;
		}
		for (__u32 i = 0; !rc && i < n; i++)
			rc = add_entry(g, keys + i * g->key_size, values + i * g->value_size);
		memcpy(from, to, cursor);
		first = false;
		if (!rc)
			rc = bb_must_end_why();
	}
	free(from);
	free(keys);
	free(values);
	return rc;
}

static int read_one_by_one(int fd, struct gather *g, size_t max)
{
	char *key = bb_calloc(1, g->key_size), *value = bb_calloc(1, g->value_size);
	int rc = 0;

	/* `max` ends the loop even if other processes keep adding entries */
	for (size_t i = 0; !rc && i < max; i++) {
		if (bpf_map_get_next_key(fd, i ? key : NULL, key))
			break;
		if (!bpf_map_lookup_elem(fd, key, value))
			rc = add_entry(g, key, value);
		if (!rc)
			rc = bb_must_end_why();
	}
	free(key);
	free(value);
	return rc;
}

/* Replaces the ids of inner maps by indexes, and adds the inner maps to the capture. */
static int index_maps(struct bb_take *t, struct gather *g)
{
	for (size_t i = 0; i < g->n; i++) {
		uint32_t id;

		memcpy(&id, g->values.data + i * sizeof(id), sizeof(id));
		int fd = bpf_map_get_fd_by_id(id);
		int32_t index = fd < 0 ? -errno : bb_take__map(t, fd);
		if (index < 0)
			return index;
		memcpy(g->values.data + i * sizeof(index), &index, sizeof(index));
	}
	return 0;
}

static int take_entries(struct bb_take *t, size_t map, size_t max_bytes)
{
	const struct bb_captured_map *was = &t->capture->maps[map];
	struct gather g = {
		.key_size = was->key_size,
		.value_size = bb_captured_map__value_bytes(t->capture, was),
		.max_bytes = max_bytes,
		.skips_zero = was->type == BPF_MAP_TYPE_ARRAY ||
			      was->type == BPF_MAP_TYPE_PERCPU_ARRAY,
	};
	bool holds_maps = was->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
			  was->type == BPF_MAP_TYPE_HASH_OF_MAPS;
	int fd = was->held.fd, rc = -ENOTSUP;

	if (!g.key_size || !g.value_size)
		return 0;
	if (!holds_maps && was->type != BPF_MAP_TYPE_PROG_ARRAY)
		rc = read_in_batches(fd, &g);
	if (rc == -ENOTSUP)
		rc = read_one_by_one(fd, &g, was->max_entries);
	if (!rc && holds_maps)
		rc = index_maps(t, &g);
	/* index_maps() may have moved this array by adding maps */
	struct bb_captured_map *m = &t->capture->maps[map];
	/* we did not see inner_map_fd, so the first inner map takes its place */
	if (!rc && holds_maps && g.n && m->inner < 0)
		memcpy(&m->inner, g.values.data, sizeof(m->inner));
	if (!rc) {
		append_bytes(&g.keys, &g.keys_room, g.values.data ? g.values.data : "",
			     g.values.size);
		m->entries = g.keys;
		m->n_entries = (uint32_t)g.n;
		g.keys = (struct bb_blob){0};
	} else if (rc != -ENOMEM && rc != -EINTR && rc != -ETIME) {
		m->left_out = bb_strdup(rc == -EFBIG ? "it holds more than the limit"
						     : strerror(-rc));
		rc = 0;
	}
	bb_blob__done(&g.keys);
	bb_blob__done(&g.values);
	return rc;
}

int bb_take__entries(struct bb_take *t, size_t max_bytes, struct bb_err *err)
{
	const struct bb_capture *c = t->capture;
	size_t left = max_bytes;

	/* inner maps are appended, so this loop reaches them, too */
	for (size_t i = 0; i < c->n_maps; i++) {
		const char *none = bb_captured_map_type__why_no_entries(c->maps[i].type);
		/* constants (frozen maps), prog arrays and maps of maps have no limit, because the
		 * program needs them */
		bool is_code = c->maps[i].frozen || c->maps[i].type == BPF_MAP_TYPE_PROG_ARRAY ||
			       c->maps[i].inner >= 0;

		if (none || (!max_bytes && !is_code)) {
			c->maps[i].left_out = bb_strdup(none ? none : "as asked for");
			continue;
		}
		int rc = take_entries(t, i, is_code ? BB_CAPTURE_MAX_BYTES : left);
		if (rc)
			return bb_fail(err, rc, "reading map '%s': %m", c->maps[i].name);
		if (!is_code)
			left -= c->maps[i].entries.size < left ? c->maps[i].entries.size : left;
	}
	return 0;
}
