/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

struct bb_source;

/* A map of a program's current load. */
struct bb_contents_map {
	const char *name;
	int fd;
	bool is_variables; /* true for .data, .bss and the like */
	bool is_frozen;    /* true after BPF_MAP_FREEZE: system calls cannot write to the map */
};

/* Facts about a map that earlier loads of a program have found. A zeroed struct has none. */
struct bb_steady_map {
	bool is_large;  /* true: the map has many entries, and each load gets the same ones */
	bool is_steady; /* true: the map is large, and no program of the load can change it */
	/* id of the map to which the contents were written; 0: they were not written */
	uint32_t written_id;
	/* The list of a large map: its n entries, in the order in which the kernel returns them.
	 * listed_id is the id of that map; 0 means that there is no list. If there is a list, only
	 * the entries that runs have changed are written again. */
	uint32_t listed_id, n;
	uint8_t *keys, *values; /* keys[n] and values[n], owned */
};

void bb_steady_maps__free(struct bb_steady_map *maps, size_t n); /* accepts NULL */

/* Finds the map `spec->name` in the current load of `of`. Returns 0, or -ENOENT with a message. */
int bb_contents_map__find(const struct bb_source *of, const struct bb_map_spec *spec,
			  struct bb_contents_map *ret_map, struct bb_err *err);

/*
 * The contents that a scenario gives to the maps of a loaded object, prepared for writing. Writing
 * then takes a few system calls, so it can be done between two runs. The result is exact: all other
 * keys of a hash are deleted, the rest of an array is zeroed, and a value of a per-CPU map is
 * written for all CPUs.
 */
struct bb_map_contents;

/*
 * Prepares contents for hashes, LRU hashes and arrays (also per CPU), LPM tries, prog arrays and
 * cgroup arrays. A spec for the object's variables, `.data` and `.bss`, has no entries: their
 * contents are the values that the variables hold now. Returns -EINVAL for other types and -ENOENT
 * for unknown names; both messages list the valid ones. If `steady` is NULL, all maps are always
 * written as a whole. Else it is an array of specs->n elements, and steady maps are written only
 * once. Other large hashes and tries (but not LRU hashes) are then written as a whole once, and
 * later only their entries that runs have changed. `specs`, `steady` and the current load of
 * `source` must outlive the result.
 */
int bb_map_contents__make(const struct bb_source *source, const struct bb_map_specs *specs,
			  struct bb_steady_map *steady, struct bb_map_contents **ret_contents,
			  struct bb_err *err);

/* Writes all maps. Returns 0, or -errno with a message; -ENOSPC if an LRU hash evicted some of the
 * entries. */
int bb_map_contents__write(struct bb_map_contents *c, struct bb_err *err);

/* Writes the maps with `reset: run`. Returns 0, or -errno without a message, because
 * bb_map_contents__write() reports errors before the first run. */
int bb_map_contents__write_for_run(struct bb_map_contents *c);

bool bb_map_contents__has_map(const struct bb_map_contents *c, int map_fd);
void bb_map_contents__free(struct bb_map_contents *c); /* accepts NULL */

/* Writes `value` as a little-endian, signed integer of `size` bytes; false if it does not fit. */
bool bb_put_integer(int64_t value, void *dest, size_t size);
