/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/drive_kind.h"

const struct bb_drive_kind *const *bb_drive_kinds;
size_t bb_n_drive_kinds;

void bb_drive_kinds__pass(const struct bb_drive_kind *const *kinds, size_t n)
{
	bb_drive_kinds = kinds;
	bb_n_drive_kinds = n;
}

static const struct bb_drive_kind unknown = {.sample = {"run", "ns per run", false}};
/* kinds that no scenario can choose */
static const struct bb_drive_kind by_command[] = {
	{.with = BB_DRIVE_INSIDE,
	 .seconds = 1,
	 .sample = BB_SAMPLE_RUN,
	 .fills = BB_FILLS_RUN_RATE | BB_FILLS_WORST | BB_FILLS_MEAN,
	 .needs_bpf = true},
	{.with = BB_DRIVE_WATCH,
	 .seconds = 1,
	 .sample = BB_SAMPLE_RUN,
	 .fills = BB_FILLS_RUN_RATE | BB_FILLS_MEAN,
	 .needs_bpf = true},
};

static bool is_by(const struct bb_drive_kind *kind, const char *by)
{
	return !by || !kind->by_key || BB_ANY(kind->by, BB_LEN(kind->by), *it && !strcmp(*it, by));
}

const struct bb_drive_kind *bb_drive_kind_find(const char *with, const char *by)
{
	const struct bb_drive_kind *const *found =
		BB_FIND(bb_drive_kinds, bb_n_drive_kinds,
			(!strcmp((*it)->with, with) ||
			 ((*it)->old_with && !strcmp((*it)->old_with, with))) &&
				is_by(*it, by));

	return found ? *found : NULL;
}

const struct bb_drive_kind *bb_drive_kind_named(const char *drive)
{
	for (size_t i = 0; drive && i < bb_n_drive_kinds; i++) {
		const struct bb_drive_kind *kind = bb_drive_kinds[i];

		if (!strcmp(drive, bb_drive_kind_name(kind)) ||
		    (kind->cold_name && !strcmp(drive, kind->cold_name)) ||
		    (kind->same_name && !strcmp(drive, kind->same_name)))
			return kind;
	}
	for (size_t i = 0; drive && i < BB_LEN(by_command); i++)
		if (!strcmp(drive, by_command[i].with))
			return &by_command[i];
	return &unknown;
}

const char *bb_drive_kind_name(const struct bb_drive_kind *kind)
{
	return kind->name ? kind->name : kind->with;
}

const struct bb_drive_key *bb_drive_kind_key(const struct bb_drive_kind *kind, const char *name)
{
	return BB_FIND(kind->keys, BB_DRIVE_KEYS, it->name && !strcmp(it->name, name));
}

const char *bb_clock_name(size_t i)
{
	static const char *const clocks[] = {"cpu-clock", "task-clock"};

	return i < BB_LEN(clocks) ? clocks[i] : NULL;
}

const char *bb_sample_consumer_name(size_t i)
{
	static const char *const consumers[] = {"fixed", "oops", "none"};

	return i < BB_LEN(consumers) ? consumers[i] : NULL;
}
