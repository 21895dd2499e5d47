/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan/scenario.h"

struct bb_target;

struct bb_contents_map {
	const char *name;
	int fd;
	bool is_variables; /* true for .data, .bss and the like */
	bool is_frozen;    /* true after BPF_MAP_FREEZE: system calls cannot write to the map */
};

/* Facts about a map that earlier loads of a program have found. */
struct bb_steady_map {
	bool is_large;  /* true if the map has many entries, the same ones in each load */
	bool is_steady; /* true if the map is large and no program of the load can change it */
	/* id of the map that got the contents; 0 if none did */
	uint32_t written_id;
	/* List of a large map: its n keys and values, owned, in the order in which the kernel
	 * returns them. With a list, only entries that runs have changed are written again.
	 * listed_id is the map's id; 0 if there is no list. */
	uint32_t listed_id, n;
	uint8_t *keys, *values;
};

void bb_steady_maps__free(struct bb_steady_map *maps, size_t n); /* accepts NULL */

/* Fails with -ENOENT if the loaded program has no map `spec->name`. */
int bb_contents_map__find(const struct bb_target *of, const struct bb_map_spec *spec,
			  struct bb_contents_map *ret_map, struct bb_err *err);

/* The contents that a scenario gives to the maps of a loaded program, prepared so that writing
 * takes few system calls. A map then contains exactly these entries: a hash has no others, the rest
 * of an array is zero, and a per-CPU map has the value on all CPUs. */
struct bb_map_contents;

/*
 * Prepares contents for hashes, arrays, LPM tries, prog arrays and cgroup arrays. For the map of
 * the object's variables, `.data` or `.bss`, the contents are the values that the variables hold
 * now. Fails with -EINVAL for other map types and with -ENOENT for unknown names.
 *
 * Without `steady`, all maps are always written as a whole. Else it is an array of specs->n
 * elements. Steady maps are then written only once, and other large hashes and tries (but not LRU
 * hashes) as a whole only once. `specs`, `steady` and the current load of `of` must outlive the
 * result.
 */
int bb_map_contents__make(const struct bb_target *of, const struct bb_map_specs *specs,
			  struct bb_steady_map *steady, struct bb_map_contents **ret_contents,
			  struct bb_err *err);

/* Writes all maps. Fails with -ENOSPC if an LRU hash evicted some of the entries. */
int bb_map_contents__write(struct bb_map_contents *c, struct bb_err *err);

/* Writes the maps with `reset: run`. Returns 0, or -errno without a message, because
 * bb_map_contents__write() has reported errors before the first run. */
int bb_map_contents__write_for_run(struct bb_map_contents *c);

bool bb_map_contents__has_map(const struct bb_map_contents *c, int map_fd);
void bb_map_contents__free(struct bb_map_contents *c); /* accepts NULL */

/* Writes `value` as a little-endian, signed integer of `size` bytes. Returns false if it does not
 * fit. */
bool bb_put_integer(int64_t value, void *dest, size_t size);
