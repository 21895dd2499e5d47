/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/symtab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"

int bb_symtab__add(struct bb_symtab *t, uint64_t start, uint64_t size, const char *name,
		   size_t name_len, uint32_t rank)
{
	size_t offset = t->text_len;

	if (bb_reserve(&t->symbols, t->n + 1, &t->size, sizeof(*t->symbols)) ||
	    bb_text_append(&t->text, &t->text_len, &t->text_size, name, name_len))
		return -ENOMEM;
	t->symbols[t->n++] =
		(struct bb_symbol){.start = start, .size = size, .name = offset, .rank = rank};
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct bb_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return (x->name > y->name) - (x->name < y->name);
}

void bb_symtab__sort(struct bb_symtab *t)
{
	size_t kept = 0;

	if (t->n)
		qsort(t->symbols, t->n, sizeof(*t->symbols), by_start);
	/* Of neighbours at one address, the first. */
	for (size_t i = 0; i < t->n; i++)
		if (!kept || t->symbols[kept - 1].start != t->symbols[i].start)
			t->symbols[kept++] = t->symbols[i];
	t->n = kept;
}

const struct bb_symbol *bb_symtab__find(const struct bb_symtab *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->symbols[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	/* A function may lie within another (a cold part, an alias into it): the one that begins
	 * last and reaches that far. */
	for (size_t back = 0; back < 8 && back < low; back++) {
		const struct bb_symbol *s = &t->symbols[low - 1 - back];

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

/* "ADDRESS TYPE NAME[\t[MODULE]]" */
static int add_kallsyms_line(struct bb_symtab *t, const char *line, const char *end)
{
	const char *name, *module, *c = line;
	uint64_t address;

	if (bb_parse_hex_digits(&c, &address) || !address || end - c < 4 || c[0] != ' ' ||
	    c[2] != ' ')
		return 0;
	if (!strchr("tTwW", c[1]))
		return 0;
	name = c + 3;
	module = memchr(name, '\t', (size_t)(end - name));
	return bb_symtab__add(t, address, 0, name, (size_t)((module ? module : end) - name),
			      c[1] == 'T' ? 0 : 1);
}

static int add_perf_map_line(struct bb_symtab *t, const char *line, const char *end)
{
	uint64_t start, size;
	const char *c = line;

	if (bb_parse_hex_digits(&c, &start) || *c++ != ' ' || bb_parse_hex_digits(&c, &size) ||
	    *c++ != ' ' || c >= end || !size)
		return 0;
	/* A JIT that made new code in the place of old appends: the later line is the one. */
	return bb_symtab__add(t, start, size, c, (size_t)(end - c), UINT32_MAX - (uint32_t)t->n);
}

static int add_lines(struct bb_symtab *t, const char *text,
		     int (*add_line)(struct bb_symtab *t, const char *line, const char *end))
{
	int rc = 0;

	for (const char *end; *text && !rc; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		rc = add_line(t, text, end);
	}
	return rc;
}

int bb_symtab__add_kallsyms(struct bb_symtab *t, const char *text)
{
	return add_lines(t, text, add_kallsyms_line);
}

int bb_symtab__add_perf_map(struct bb_symtab *t, const char *text)
{
	return add_lines(t, text, add_perf_map_line);
}

#define MAP_MAX_BYTES (256u << 20)

/* Of a regular file of the user or of root. */
static int read_file_of(const char *path, uint32_t uid, char **ret_text)
{
	struct stat st;
	size_t len;
	int fd = bb_open_regular(path, O_NOFOLLOW, &st);

	if (fd >= 0 && st.st_uid && st.st_uid != uid) {
		close(fd);
		return -EPERM;
	}
	return bb_read_and_close(fd, path, MAP_MAX_BYTES, ret_text, &len, NULL);
}

int bb_jit_maps__get(struct bb_jit_maps *maps, uint32_t pid, uint32_t uid,
		     const struct bb_symtab **ret_symtab)
{
	uint32_t id = bb_idmap__get(&maps->by_pid, pid, 0);
	char path[96], *text;
	struct bb_symtab *t;
	int rc;

	*ret_symtab = NULL;
	if (id == BB_NO_ID) {
		id = (uint32_t)maps->n;
		t = bb_append(&maps->v, &maps->n, sizeof(*t));
		if (!t || bb_idmap__put(&maps->by_pid, pid, 0, id))
			return -ENOMEM;
		snprintf(path, sizeof(path), "/proc/%u/root/tmp/perf-%u.map", pid, pid);
		/* The process's own /tmp, as long as there is one; ours otherwise. */
		rc = read_file_of(path, uid, &text);
		if (rc && rc != -ENOMEM)
			rc = read_file_of(strstr(path, "/tmp/"), uid, &text);
		if (rc)
			return rc == -ENOMEM ? rc : 0;
		rc = bb_symtab__add_perf_map(t, text);
		free(text);
		bb_symtab__sort(t);
		if (rc)
			return rc;
	}
	if (maps->v[id].n)
		*ret_symtab = &maps->v[id];
	return 0;
}

void bb_jit_maps__done(struct bb_jit_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		bb_symtab__done(&maps->v[i]);
	free(maps->v);
	bb_idmap__done(&maps->by_pid);
	memset(maps, 0, sizeof(*maps));
}
