/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_KEPT_MAPS_H
#define BB_BPF_KEPT_MAPS_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/rings.h"
#include "plan/scenario.h"

/*
 * Maps of a program that are used again by its later loads: those with contents of their own, so
 * not .rodata or .bss. Making a 16 MiB ring takes 10 to 40 ms, and the physical pages of a map
 * influence the cost of the program, which must not change from load to load.
 */
struct bb_kept_map;
struct bpf_map_info;
struct bpf_object;
struct btf;

/* All zero means no maps. */
struct bb_kept_maps {
	struct bb_kept_map *maps;
	size_t n;
	struct bb_rings rings; /* readers of our own maps, not of the lender's */
	/* contents that the scenario gives to the maps; NULL if none */
	const struct bb_map_specs *specs;
	/* values of `self` in these contents; NULL if unknown */
	const struct bb_self_values *self;
	/* keeper whose maps are shared if they are alike; NULL if there is none */
	struct bb_kept_maps *lender;
};

/* Lets `obj`, which is not loaded yet, use the kept maps and the lender's. Returns -errno
 * without a message. */
int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj);

/* Keeps the new maps of the loaded object and reads their rings. `object_path` is for messages. */
int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err);

/*
 * Returns the descriptor of the kept map `name`, borrowed; -1 if there is none. A map of the lender
 * must have the type, key and value size, map_flags and max_entries of `like`; max_entries 0 means
 * any.
 */
int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like);
/* Keeps one map and reads its ring. The caller still owns `fd`. */
int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err);

/* Returns the reader of the ring buffer with this id, from our maps or the lender's; NULL if it
 * is not a ring buffer. */
const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id);

/*
 * True if values of this type contain objects of the program's own types (__kptr, lists, trees).
 * The kernel requires these types in the program's BTF object, so such a map cannot outlive its
 * load.
 */
bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id);

/*
 * Waits 1 ms after the last descriptor of a prog array was closed, so that a kernel worker on this
 * CPU can empty the array. A process that lists all maps before that, such as `bpftool map`, makes
 * the kernel leak the map until the next boot, because prog_array_map_clear() takes a reference for
 * work that is queued already.
 */
void bb_kept_maps__let_prog_arrays_go(void);

/*
 * From the next load on, uses the maps of `lender` that are like ours, and closes ours. Exception:
 * a table whose number of entries differs from the lender's is kept, because its contents, as from
 * a capture, are part of what is measured.
 */
void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender);

/* Closes the maps. `specs`, `self` and `lender` stay. */
void bb_kept_maps__drop(struct bb_kept_maps *k);

/* Descriptors of the inner maps that bb_map_sizes__mend() made as templates for maps of maps. */
struct bb_map_patterns {
	int *fds;
	size_t n;
};

/*
 * Gives the maps of an object that is not loaded yet the sizes that its author left to the loader.
 * `patterns` is made at the first load of an object file and serves all its loads. Returns 0 or
 * -ENOMEM.
 */
int bb_map_sizes__mend(struct bpf_object *obj, struct bb_map_patterns *patterns,
		       struct bb_err *err);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

#endif
