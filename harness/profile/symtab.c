/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symtab.h"

#include "base/io.h"
#include "base/parse.h"

/* Returns the entry of the pair (a, b), or the free entry to put it in. */
static struct bb_idmap_entry *find_entry(struct bb_idmap_entry *entries, size_t size, uint64_t a,
					 uint64_t b)
{
	/* Multiplicative hashing (Knuth 1973). XOR folds the upper half into the lower half,
	 * because only the upper bits depend on all bits of both numbers. */
	uint64_t h = (a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (h ^ h >> 32) & (size - 1);

	while (entries[i].id && (entries[i].a != a || entries[i].b != b))
		i = (i + 1) & (size - 1);
	return &entries[i];
}

uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b)
{
	/* a free entry has the id 0, and 0 - 1 is BB_NO_ID */
	return m->size ? find_entry(m->entries, m->size, a, b)->id - 1 : BB_NO_ID;
}

void bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id)
{
	struct bb_idmap_entry *e;

	if ((m->n + 1) * 2 > m->size) {
		size_t size = m->size ? m->size * 2 : 64;
		struct bb_idmap_entry *grown = bb_calloc(size, sizeof(*grown));

		for (e = m->entries; e < m->entries + m->size; e++)
			if (e->id)
				*find_entry(grown, size, e->a, e->b) = *e;
		free(m->entries);
		m->entries = grown;
		m->size = size;
	}
	e = find_entry(m->entries, m->size, a, b);
	if (!e->id)
		m->n++;
	*e = (struct bb_idmap_entry){.a = a, .b = b, .id = id + 1};
}

void bb_idmap__done(struct bb_idmap *m)
{
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

static void append_text(char **all, size_t *all_len, size_t *all_size, const char *text, size_t len)
{
	bb_reserve(all, *all_len + len + 1, all_size, 1);
	memcpy(*all + *all_len, text, len);
	(*all)[*all_len + len] = '\0';
	*all_len += len + 1;
}

uint32_t bb_names__add(struct bb_names *names, const char *text, size_t len)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325), nth = 0; /* FNV-1a (Fowler, Noll, Vo 1991) */
	uint32_t id;

	len = strnlen(text, len);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	for (; (id = bb_idmap__get(&names->by_hash, hash, nth)) != BB_NO_ID; nth++) {
		const char *known = bb_names__text(names, id);

		if (!strncmp(known, text, len) && !known[len])
			return id;
	}
	id = (uint32_t)names->n;
	BB_PUSH(names->offsets, names->n, names->text_len);
	append_text(&names->text, &names->text_len, &names->text_size, text, len);
	bb_idmap__put(&names->by_hash, hash, nth, id);
	return id;
}

void bb_names__done(struct bb_names *names)
{
	free(names->text);
	free(names->offsets);
	bb_idmap__done(&names->by_hash);
	memset(names, 0, sizeof(*names));
}

void bb_symtab__add(struct bb_symtab *t, uint64_t start, uint64_t size, const char *name,
		    size_t name_len, uint32_t rank)
{
	BB_PUSH(t->symbols, t->n,
		(struct bb_symbol){.start = start,
				   .size = size,
				   .name = t->text_len,
				   .rank = rank});
	append_text(&t->text, &t->text_len, &t->text_size, name, name_len);
}

static int by_start(const void *a, const void *b)
{
	const struct bb_symbol *x = a, *y = b;

	return BB_ORDER(x->start, y->start) ?: BB_ORDER(!x->size, !y->size)
	       ?: BB_ORDER(x->rank, y->rank) ?: BB_ORDER(x->name, y->name);
}

void bb_symtab__sort(struct bb_symtab *t)
{
	struct bb_symbol *v = t->symbols;
	size_t in_order = 1, kept = 0, from;
	uint64_t least = UINT64_MAX;

	/* /proc/kallsyms and most symbol tables are in order except near their ends. So only the
	 * symbols from the lowest address that is out of order on are sorted. */
	while (in_order < t->n && v[in_order - 1].start <= v[in_order].start)
		in_order++;
	for (size_t i = in_order; i < t->n; i++)
		least = v[i].start < least ? v[i].start : least;
	if (in_order < t->n) {
		from = BB_N_LEADING(v, in_order, it->start < least);
		qsort(v + from, t->n - from, sizeof(*v), by_start);
	}
	/* Keep the best symbol of each address. */
	for (size_t i = 0; i < t->n; i++)
		if (!kept || v[kept - 1].start != v[i].start)
			v[kept++] = v[i];
		else if (by_start(&v[i], &v[kept - 1]) < 0)
			v[kept - 1] = v[i];
	t->n = kept;
}

const struct bb_symbol *bb_symtab__find(const struct bb_symtab *t, uint64_t address)
{
	size_t n = BB_N_LEADING(t->symbols, t->n, it->start <= address);

	/* A function may lie inside another one (a cold part, an alias). Choose the last function
	 * that begins at or before the address and contains it. */
	for (size_t back = 0; back < 8 && back < n; back++) {
		const struct bb_symbol *s = &t->symbols[n - 1 - back];

		if (address - s->start < s->size || (!s->size && !back))
			return s;
	}
	return NULL;
}

void bb_symtab__done(struct bb_symtab *t)
{
	free(t->text);
	free(t->symbols);
	memset(t, 0, sizeof(*t));
}

/* A line is "ADDRESS TYPE NAME[\t[MODULE]]". */
void bb_symtab__add_kallsyms(struct bb_symtab *t, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		const char *name, *module, *c = text;
		uint64_t address;

		end = strchrnul(text, '\n');
		if (bb_parse_hex_digits(&c, &address) || !address || end - c < 4 || c[0] != ' ' ||
		    c[2] != ' ' || !strchr("tTwW", c[1]))
			continue;
		name = c + 3;
		module = memchr(name, '\t', (size_t)(end - name));
		bb_symtab__add(t, address, 0, name, (size_t)((module ? module : end) - name),
			       c[1] == 'T' ? 0 : 1);
	}
}

void bb_symtab__add_perf_map(struct bb_symtab *t, const char *text)
{
	for (const char *end; *text; text = *end ? end + 1 : end) {
		const char *c = text;
		uint64_t start, size;

		end = strchrnul(text, '\n');
		if (bb_parse_hex_digits(&c, &start) || *c++ != ' ' ||
		    bb_parse_hex_digits(&c, &size) || *c++ != ' ' || c >= end || !size)
			continue;
		/* A JIT appends lines for replaced code, so later lines get lower (preferred)
		 * ranks. */
		bb_symtab__add(t, start, size, c, (size_t)(end - c), UINT32_MAX - (uint32_t)t->n);
	}
}

#define MAP_MAX_BYTES (256u << 20)

int bb_open_if_trusted(const char *path, int flags, uid_t owner)
{
	struct stat st;
	int fd = bb_open_regular(path, flags, &st);

	if (fd >= 0 && st.st_uid && st.st_uid != owner) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int read_map_of(const char *path, uint32_t uid, char **ret_text)
{
	size_t len;

	return bb_read_and_close(bb_open_if_trusted(path, O_NOFOLLOW, uid), MAP_MAX_BYTES, ret_text,
				 &len);
}

const struct bb_symtab *bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid)
{
	uint32_t id = bb_idmap__get(&maps->by_pid, pid, 0);
	char path[96], *text;
	struct bb_symtab *t;

	if (id == BB_NO_ID) {
		id = (uint32_t)maps->n;
		t = bb_append(&maps->v, &maps->n, sizeof(*t));
		bb_idmap__put(&maps->by_pid, pid, 0, id);
		snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, pid);
		/* try /tmp as the process sees it first, which exists only while the process
		 * does */
		if (read_map_of(path, uid, &text) && read_map_of(strstr(path, "/tmp/"), uid, &text))
			return NULL;
		bb_symtab__add_perf_map(t, text);
		free(text);
		bb_symtab__sort(t);
	}
	return maps->v[id].n ? &maps->v[id] : NULL;
}

void bb_jit_maps__done(struct bb_jit_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		bb_symtab__done(&maps->v[i]);
	free(maps->v);
	bb_idmap__done(&maps->by_pid);
	memset(maps, 0, sizeof(*maps));
}
