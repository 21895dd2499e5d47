/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/map_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void spec_free(struct bb_map_spec *spec)
{
	for (size_t i = 0; i < spec->n_entries; i++) {
		free(spec->entries[i].key.bytes.data);
		free(spec->entries[i].value.bytes.data);
		free(spec->entries[i].program);
	}
	free(spec->entries);
	free(spec->name);
	free(spec);
}

int bb_map_specs__add(struct bb_map_specs *list, struct bb_map_spec *spec)
{
	struct bb_map_spec **v = bb_append(&list->v, &list->n, sizeof(struct bb_map_spec *));

	if (!v) {
		if (!spec->n_users)
			spec_free(spec);
		return -ENOMEM;
	}
	*v = spec;
	spec->n_users++;
	return 0;
}

int bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < from->n; i++)
		if (!bb_map_specs__find(list, from->v[i]->name))
			rc = bb_map_specs__add(list, from->v[i]);
	return rc;
}

struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name)
{
	for (size_t i = 0; list && i < list->n; i++)
		if (list->v[i]->name && !strcmp(list->v[i]->name, name))
			return list->v[i];
	return NULL;
}

bool bb_map_specs__call(const struct bb_map_specs *list, const char *program)
{
	for (size_t i = 0; list && i < list->n; i++) {
		const struct bb_map_spec *spec = list->v[i];

		for (size_t k = 0; k < spec->n_entries; k++)
			if (spec->entries[k].program && !strcmp(spec->entries[k].program, program))
				return true;
	}
	return false;
}

void bb_map_specs__done(struct bb_map_specs *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (!--list->v[i]->n_users)
			spec_free(list->v[i]);
	free(list->v);
	*list = (struct bb_map_specs){0};
}
