/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/field.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "core/drive_kind.h"

/* The value of `key` names a variant, or is not given (NULL). */
static int check_reference(const struct bb_reader *r, const struct bb_scenario *s, const char *key,
			   const struct bb_yaml *node)
{
	const char *names[BB_YAML_MAX_ENTRIES];

	if (!node || bb_scenario__variant(s, node->text))
		return 0;
	assert(s->n_variants <= sizeof(names) / sizeof(names[0]));
	for (size_t i = 0; i < s->n_variants; i++)
		names[i] = s->variants[i].name;
	return bb_yaml__fail(r, node, "%s %s is no variant%s; there are: %s", key,
			     bb_yaml__show(node).text,
			     bb_phrase__suggest(node->text, names, s->n_variants).text,
			     bb_phrase__join(names, s->n_variants).text);
}

/* What a drive says of variants, which may stand further down in the file. */
static int check_drive(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_yaml *node)
{
	const struct bb_yaml *driven = bb_yaml__get(node, "variants");
	int rc = check_reference(r, s, "floor", bb_yaml__get(node, "floor"));

	for (size_t i = 0; !rc && driven && i < driven->n; i++) {
		rc = check_reference(r, s, "variants:", &driven->items[i]);
		for (size_t j = 0; !rc && j < i; j++)
			if (!strcmp(driven->items[j].text, driven->items[i].text))
				rc = bb_yaml__fail(r, &driven->items[i], "variants lists %s twice",
						   bb_yaml__show(&driven->items[i]).text);
	}
	return rc;
}

static int check_references(const struct bb_reader *r, const struct bb_scenario *s,
			    const struct bb_yaml *root)
{
	const struct bb_yaml *drives = bb_yaml__get(root, "drive");
	int rc = check_reference(r, s, "floor", bb_yaml__get(root, "floor"));

	rc = rc ? rc : check_reference(r, s, "anchor", bb_yaml__get(root, "anchor"));
	for (size_t i = 0; !rc && i < drives->n; i++)
		rc = check_drive(r, s, &drives->items[i]);
	return rc;
}

static int check_object(const struct bb_reader *r, const struct bb_scenario *s,
			const struct bb_yaml *root)
{
	bool all_have = true; /* one of their own, or none is needed */

	for (size_t i = 0; i < s->n_variants; i++)
		all_have &= s->variants[i].object || bb_variant_is_live(&s->variants[i]);
	for (size_t i = 0; i < s->n_drives && !s->object && !all_have; i++)
		if (s->drives[i].kind->needs_bpf)
			return bb_yaml__fail(r, root,
					     "a scenario needs the key 'object', the file with the "
					     "BPF programs, for its drive at %u:%u",
					     s->drives[i].where.line, s->drives[i].where.col);
	return 0;
}

/* `reset: run` needs somebody who knows when a run begins. */
static int check_reset(const struct bb_reader *r, const struct bb_scenario *s,
		       const struct bb_map_spec *map)
{
	const struct bb_yaml at = {.line = map->where.line, .col = map->where.col};

	for (size_t i = 0; map->each_run && i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];

		if (!d->kind->one_by_one)
			return bb_yaml__fail(r, &at,
					     "map '%s' with 'reset: run' needs a drive that fires "
					     "each run on its own, 'with: step'; the drive at "
					     "%u:%u is %s, which cannot reset a map between two "
					     "runs",
					     map->name, d->where.line, d->where.col, d->kind->with);
	}
	return 0;
}

/* Every variant's list of maps is made whole, so that nobody else needs to know where one stood. */
static int settle_maps(const struct bb_reader *r, struct bb_scenario *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->n_variants; i++) {
		struct bb_map_specs *maps = &s->variants[i].maps;

		if (bb_map_specs__inherit(maps, &s->maps))
			return bb_fail_nomem(r->err);
		for (size_t k = 0; !rc && k < maps->n; k++)
			rc = check_reset(r, s, maps->v[k]);
	}
	return rc;
}

/* So is every drive's floor. */
static int settle_floors(const struct bb_reader *r, struct bb_scenario *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && s->floor && i < s->n_drives; i++)
		if (!s->drives[i].floor)
			rc = bb_field__set_text(r, &s->drives[i].floor, s->floor);
	return rc;
}

int bb_scenario__settle(const struct bb_reader *r, const struct bb_yaml *root,
			struct bb_scenario *s)
{
	int rc = check_references(r, s, root);

	rc = rc ? rc : check_object(r, s, root);
	rc = rc ? rc : settle_maps(r, s);
	return rc ? rc : settle_floors(r, s);
}
