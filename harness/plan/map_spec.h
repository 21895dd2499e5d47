/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PLAN_MAP_SPEC_H
#define BB_PLAN_MAP_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "plan/bytes.h"
#include "plan/self.h"
#include "plan/where.h"

/* The contents that a scenario gives to a map. Sizes are the map's own: they are checked when the
 * program is loaded. */

/* A key or a value: a whole number, as wide as the map has them, or exactly these bytes. */
struct bb_map_datum {
	bool is_number;
	int64_t number;
	enum bb_self self; /* instead of both; BB_SELF_NONE: neither */
	struct bb_bytes bytes;
};

struct bb_map_entry {
	struct bb_map_datum key, value;
	char *program; /* of a prog array, instead of a value; NULL elsewhere */
	struct bb_where where;
};

struct bb_map_spec {
	char *name;
	/* n_entries of them; none: the map is empty, an array all zeros */
	struct bb_map_entry *entries;
	size_t n_entries;
	/* `reset: run`: so before every run, not only before the series of a load */
	bool each_run;
	struct bb_where where;
	size_t n_users; /* lists that have it: private */
};

/* The contents of one variant's maps, by distinct names. Lists share their specs; two that share
 * one mean the same map. */
struct bb_map_specs {
	struct bb_map_spec **v;
	size_t n;
};

/* Take over `spec`, which is freed with the last list that has it (on failure at once). 0 or
 * -ENOMEM. */
int bb_map_specs__add(struct bb_map_specs *list, struct bb_map_spec *spec);

/* Share those of `from` whose names are not in `list`. 0 or -ENOMEM. */
int bb_map_specs__inherit(struct bb_map_specs *list, const struct bb_map_specs *from);

/* The spec of that map, or NULL. `list` may be NULL. */
struct bb_map_spec *bb_map_specs__find(const struct bb_map_specs *list, const char *name);

/* Is that program in a prog array of them? `list` may be NULL. */
bool bb_map_specs__call(const struct bb_map_specs *list, const char *program);

void bb_map_specs__done(struct bb_map_specs *list);

#endif
