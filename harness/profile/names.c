/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* FNV-1a (Fowler, Noll and Vo 1991). */
static uint64_t hash_of(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8_t)text[i]) * UINT64_C(0x100000001b3);
	return h;
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

static int append(struct bb_names *names, const char *text, size_t len)
{
	size_t offset = names->text_len;

	if (bb_reserve(&names->offsets, names->n + 1, &names->offsets_size,
		       sizeof(*names->offsets)) ||
	    bb_text_append(&names->text, &names->text_len, &names->text_size, text, len))
		return -ENOMEM;
	names->offsets[names->n++] = offset;
	return 0;
}

int bb_names__add(struct bb_names *names, const char *text, size_t len, uint32_t *ret_id)
{
	uint64_t hash, nth = 0;
	uint32_t id;

	len = strnlen(text, len);
	hash = hash_of(text, len);
	for (; (id = bb_idmap__get(&names->by_hash, hash, nth)) != BB_NO_ID; nth++) {
		const char *known = bb_names__text(names, id);

		if (!strncmp(known, text, len) && !known[len]) {
			*ret_id = id;
			return 0;
		}
	}
	id = (uint32_t)names->n;
	if (append(names, text, len) || bb_idmap__put(&names->by_hash, hash, nth, id))
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
