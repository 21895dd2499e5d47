/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/rings.h"
#include "plan/scenario.h"

/*
 * Maps that later loads of a program use again, for two reasons. Making a ring buffer of 16 MiB
 * takes 10 to 40 ms. And the cost of a program depends on the physical pages of its maps, so new
 * pages would change that cost from load to load.
 *
 * Maps that belong to one load are not kept: global variables (.rodata, .bss, ...), prog arrays,
 * struct_ops maps, and maps with objects of the program's own types.
 */
struct bb_kept_map;
struct bpf_map_info;
struct bpf_object;
struct btf;

/* A zeroed struct has no maps. */
struct bb_kept_maps {
	struct bb_kept_map *maps;
	size_t n;
	struct bb_rings rings; /* readers of the ring buffers, perf buffers and queues in `maps` */
	/* contents that the scenario gives to the maps; NULL if none */
	const struct bb_map_specs *specs;
	/* values for map entries such as `{pid: self}`; NULL if unknown */
	const struct bb_self_values *self;
	/* another program's kept maps, used where bb_kept_maps__get() allows it; may be NULL */
	struct bb_kept_maps *lender;
};

/* Makes `obj`, before its load, use the maps of bb_kept_maps__get(). Writes no message. */
int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj);

/* Keeps the new maps of a loaded object, and opens readers of its ring buffers and queues. */
int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err);

/* Returns the descriptor of the kept map `name`, borrowed, or -1 if a new map must be made. A map
 * of the lender is returned only if it equals `like` in type, sizes and flags, and if the scenario
 * gives both programs the same contents. like->max_entries 0 fits any number of entries. */
int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like);
/* Keeps a copy of `fd`, and opens a reader of the map's ring. Does nothing if that name is kept
 * already. */
int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err);

/* Returns the reader of a ring buffer of `k` or of a lender, or NULL if no kept map has that id. */
const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id);

/* True if values of this type contain objects of the program's own types (__kptr, lists, trees),
 * for which the kernel needs the program's BTF object. A later load has another one and cannot use
 * the map. */
bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id);

/* Call it after closing the last descriptor of a prog array. It waits 1 ms, so that a kernel worker
 * can empty the array. If a process lists all maps before that, as `bpftool map` does, the kernel
 * leaks the array until the next boot: prog_array_map_clear() then takes a reference for work that
 * is queued already. */
void bb_kept_maps__let_prog_arrays_go(void);

/* Makes later loads use the maps of `lender`, and closes the maps of `k`. But `k` keeps a hash or
 * trie whose number of entries differs from the lender's, because its contents are part of what is
 * measured. */
void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender);

void bb_kept_maps__drop(struct bb_kept_maps *k);

/* Templates of inner maps that bb_map_sizes__mend() made for maps of maps. */
struct bb_map_patterns {
	const struct bb_map_specs *specs;
	int *fds;
	size_t n;
};

/* Sets the map sizes that the author of an object left to the loader, and those in `specs` (may be
 * NULL). Call it before the load. `patterns` begins as zeros and is passed to all loads of the
 * object file. Fails with -ENOMEM if the maps of `specs` need more memory than is available. */
int bb_map_sizes__mend(struct bpf_object *obj, const struct bb_map_specs *specs,
		       struct bb_map_patterns *patterns, struct bb_err *err);

/* Returns the per-CPU variant of a map type, or -1 if there is none. */
int bb_map_type__per_cpu(uint32_t type);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

/* Counts the entries of a map, `most` at most. In prog arrays and maps of maps, empty slots do not
 * count. */
uint32_t bb_map_entries(int map_fd, const struct bpf_map_info *info, uint32_t most);

/* Returns the machine's available memory in bytes, or INFINITY if it is unknown. */
double bb_memory_available(void);

/* From now on bb_map_sizes__mend() gives hash maps the seed 0 instead of a random one. A lookup
 * then takes the same instructions after each load. */
void bb_map_seeds__zero(void);
