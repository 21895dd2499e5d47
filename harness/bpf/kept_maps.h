/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/rings.h"
#include "plan/scenario.h"

/*
 * Maps that later loads of the same program use again. Maps that belong to one load are left out:
 * those of global variables (.rodata, .bss, ...), prog arrays, struct_ops maps, and maps with
 * objects of the program's own types.
 *
 * Making a 16 MiB ring takes 10 to 40 ms. Also, the physical pages of a map influence the cost of
 * the program, so new pages would change that cost from load to load.
 */
struct bb_kept_map;
struct bpf_map_info;
struct bpf_object;
struct btf;

/* All zero means no maps. */
struct bb_kept_maps {
	struct bb_kept_map *maps;
	size_t n;
	struct bb_rings rings; /* readers of the rings in `maps`, not of the lender's rings */
	/* contents that the scenario gives to the maps; NULL if none */
	const struct bb_map_specs *specs;
	/* values of `self` in these contents; NULL if unknown */
	const struct bb_self_values *self;
	/* keeper of maps that are used instead of new maps if they are alike; NULL if there is
	 * none */
	struct bb_kept_maps *lender;
};

/* Lets `obj`, which is not loaded yet, use the kept maps, and the lender's maps if they are alike
 * (bb_kept_maps__get()). Returns 0, or -errno without a message. */
int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj);

/* Keeps the new maps of the loaded object and opens readers of their rings. `object_path` is for
 * messages. */
int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err);

/*
 * Returns the descriptor of the map `name` to use again, borrowed; -1 if there is none. A map of
 * the lender is returned only if it is alike: it has the type, key size, value size, map_flags and
 * max_entries of `like` (max_entries 0: any), and the same contents in the scenario. Maps whose
 * contents depend on the program (`self`, or libbpf's "__bpf_usdt_...") are never lent.
 */
int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like);
/* Keeps one map and opens a reader of its ring. The caller still owns `fd`. */
int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err);

/* Returns the reader of the ring buffer with the id `map_id`, from our maps or the lender's;
 * NULL if no ring buffer has that id. */
const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id);

/* True if values of this type contain objects of the program's own types (__kptr, lists, trees).
 * The kernel requires these types in the program's BTF object, so such a map cannot outlive its
 * load. */
bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id);

/*
 * Call it after closing the last descriptor of a prog array. It waits 1 ms, so that a kernel worker
 * on this CPU can empty the array. If a process lists all maps before that, as `bpftool map` does,
 * the kernel leaks the map until the next boot, because prog_array_map_clear() takes a reference
 * for work that is queued already.
 */
void bb_kept_maps__let_prog_arrays_go(void);

/* Closes our maps. From the next load on, maps of `lender` that are alike are used. A hash or trie
 * with another number of entries than the lender's is not borrowed: its contents, for example from
 * a capture, are part of what is measured. */
void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender);

/* Closes the maps. `specs`, `self` and `lender` do not change. */
void bb_kept_maps__drop(struct bb_kept_maps *k);

/* Descriptors of the inner maps that bb_map_sizes__mend() made as templates for maps of maps. */
struct bb_map_patterns {
	const struct bb_map_specs *specs; /* the sizes come from these specs */
	int *fds;
	size_t n;
};

/* Sets the sizes that the author of an object left to the loader, and those of the scenario's
 * `specs` (may be NULL). The object is not loaded yet. `patterns` begins as zeros; the first load
 * of an object file with these specs fills it, and all later loads use it.
 * -ENOMEM if the maps of `specs` need more memory than is available. */
int bb_map_sizes__mend(struct bpf_object *obj, const struct bb_map_specs *specs,
		       struct bb_map_patterns *patterns, struct bb_err *err);

/* Returns the type of a map like one of `type`, but with a value for each CPU; -1: there is none.
 */
int bb_map_type__per_cpu(uint32_t type);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

/* From now on bb_map_sizes__mend() gives the hash maps of an object the seed 0 instead of a random
 * one, so that a lookup takes the same instructions after each load. */
void bb_map_seeds__zero(void);
