/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* The entry of the pair, or the free one where it belongs. */
static struct bb_idmap_entry *find_entry(struct bb_idmap_entry *entries, size_t size, uint64_t a,
					 uint64_t b)
{
	/* Multiplicative hashing (Knuth 1973): the upper bits depend on all of both numbers, and
	 * are brought down. */
	uint64_t h = (a ^ b * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (h ^ h >> 32) & (size - 1);

	while (entries[i].id && (entries[i].a != a || entries[i].b != b))
		i = (i + 1) & (size - 1);
	return &entries[i];
}

uint32_t bb_idmap__get(const struct bb_idmap *m, uint64_t a, uint64_t b)
{
	/* 0 - 1 is BB_NO_ID */
	return m->size ? find_entry(m->entries, m->size, a, b)->id - 1 : BB_NO_ID;
}

int bb_idmap__put(struct bb_idmap *m, uint64_t a, uint64_t b, uint32_t id)
{
	struct bb_idmap_entry *e;

	if ((m->n + 1) * 2 > m->size) {
		size_t size = m->size ? m->size * 2 : 64;
		struct bb_idmap_entry *grown = calloc(size, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
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
	return 0;
}

void bb_idmap__done(struct bb_idmap *m)
{
	free(m->entries);
	memset(m, 0, sizeof(*m));
}

int bb_text_append(char **all, size_t *all_len, size_t *all_size, const char *text, size_t len)
{
	if (bb_reserve(all, *all_len + len + 1, all_size, 1))
		return -ENOMEM;
	memcpy(*all + *all_len, text, len);
	(*all)[*all_len + len] = '\0';
	*all_len += len + 1;
	return 0;
}

int bb_names__add(struct bb_names *names, const char *text, size_t len, uint32_t *ret_id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325),
		 nth = 0; /* FNV-1a (Fowler, Noll and Vo 1991) */
	size_t *offset;
	uint32_t id;

	len = strnlen(text, len);
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	for (; (id = bb_idmap__get(&names->by_hash, hash, nth)) != BB_NO_ID; nth++) {
		const char *known = bb_names__text(names, id);

		if (!strncmp(known, text, len) && !known[len]) {
			*ret_id = id;
			return 0;
		}
	}
	id = (uint32_t)names->n;
	offset = bb_append(&names->offsets, &names->n, sizeof(*offset));
	if (!offset)
		return -ENOMEM;
	*offset = names->text_len;
	if (bb_text_append(&names->text, &names->text_len, &names->text_size, text, len) ||
	    bb_idmap__put(&names->by_hash, hash, nth, id))
		return -ENOMEM;
	*ret_id = id;
	return 0;
}

void bb_names__done(struct bb_names *names)
{
	free(names->text);
	free(names->offsets);
	bb_idmap__done(&names->by_hash);
	memset(names, 0, sizeof(*names));
}
