/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/rings.h"
#include "plan/scenario.h"

/*
 * Maps that later loads of the same program use again. Some maps are not kept, because they belong
 * to one load: the maps of global variables (.rodata, .bss, ...), prog arrays, struct_ops maps, and
 * maps with objects of the program's own types.
 *
 * We keep maps for two reasons. Making a ring buffer of 16 MiB takes 10 to 40 ms. And the physical
 * pages of a map influence the cost of the program, so new pages would change that cost from load
 * to load.
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
	/* contents that the scenario gives to the maps; NULL if it gives none */
	const struct bb_map_specs *specs;
	/* values for entries such as `{pid: self}` in these contents; NULL if unknown */
	const struct bb_self_values *self;
	/* the kept maps of another program; loads use them instead of new maps where
	 * bb_kept_maps__get() allows it; NULL if there are none */
	struct bb_kept_maps *lender;
};

/* Makes `obj`, which is not loaded yet, use the maps that bb_kept_maps__get() returns instead of
 * new ones. Returns 0, or -errno without a message. */
int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj);

/* Keeps the new maps of the loaded object, and opens readers of their ring buffers and queues. */
int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err);

/*
 * Returns the descriptor of the kept map `name`, borrowed; -1 if a new map must be made. A map of
 * the lender is returned only if it equals `like` in type, key size, value size, map_flags and
 * max_entries (0 in like->max_entries means any number), and if the scenario gives the same
 * contents to the maps of both programs. Maps whose contents depend on the program (`self`, or
 * libbpf's "__bpf_usdt_...") are never lent.
 */
int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like);
/* Keeps a copy of the descriptor `fd`, and opens a reader of the map's ring. Does nothing if a map
 * with that name is kept already. `object_path` is for messages. */
int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err);

/* Returns the reader of the ring buffer with the id `map_id`, which may also be a map of a lender;
 * NULL if no kept map has that id. */
const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id);

/* True if values of this type contain objects of the program's own types (__kptr, lists, trees).
 * The kernel requires that these types are in the BTF object of the program. So a map with such
 * values is of no use to a later load, which has another BTF object. */
bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id);

/*
 * Call it after closing the last descriptor of a prog array. It waits 1 ms, so that a kernel worker
 * on this CPU can empty the array. If a process lists all maps before the worker has run, as
 * `bpftool map` does, the kernel leaks the map until the next boot, because prog_array_map_clear()
 * takes a reference for work that is queued already.
 */
void bb_kept_maps__let_prog_arrays_go(void);

/* Makes later loads use the maps of `lender` where bb_kept_maps__get() allows it, and closes the
 * maps of `k`. Exception: `k` keeps its own hash or trie if the lender's has another number of
 * entries, because the contents, for example from a capture, are part of what is measured. */
void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender);

/* Closes the maps. `specs`, `self` and `lender` do not change. */
void bb_kept_maps__drop(struct bb_kept_maps *k);

/* Inner maps that bb_map_sizes__mend() made as templates for maps of maps. */
struct bb_map_patterns {
	const struct bb_map_specs *specs; /* specs that the sizes of the templates come from */
	int *fds;
	size_t n;
};

/* Sets the sizes that the author of an object left to the loader, and the sizes in the scenario's
 * `specs` (may be NULL). The object is not loaded yet. `patterns` begins as zeros; the first load
 * of an object file with these specs fills it, and all later loads use it. Returns 0, or -errno
 * with a message; -ENOMEM if the maps of `specs` need more memory than is available. */
int bb_map_sizes__mend(struct bpf_object *obj, const struct bb_map_specs *specs,
		       struct bb_map_patterns *patterns, struct bb_err *err);

/* Returns the map type that is like `type` but has a value for each CPU; -1 if there is none. */
int bb_map_type__per_cpu(uint32_t type);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

/* Returns the machine's available memory, bytes; INFINITY if unknown. */
double bb_memory_available(void);

/* From now on bb_map_sizes__mend() gives the hash maps of an object the seed 0 instead of a random
 * one, so that a lookup takes the same instructions after each load. */
void bb_map_seeds__zero(void);
