/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_KEPT_MAPS_H
#define BB_BPF_KEPT_MAPS_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/rings.h"
#include "plan/scenario.h"

/*
 * The maps of a program that outlive its loads, those with contents of their own (not .rodata,
 * .bss): making a 16 MiB ring takes 10-40 ms, and the place of its pages changes the cost of the
 * program, which a reload must not vary.
 */
struct bb_kept_map;
struct bpf_map_info;
struct bpf_object;
struct btf;

/* Zeroed, none. */
struct bb_kept_maps {
	struct bb_kept_map *maps;
	size_t n;
	struct bb_rings rings;             /* of the maps that are our own */
	const struct bb_map_specs *specs;  /* the contents of maps; NULL: none given */
	const struct bb_self_values *self; /* what `self` stands for in them; NULL: not known */
	struct bb_kept_maps *lender;       /* whose maps are used where they are alike; NULL */
};

/* Before a load of `obj`: let it use the kept maps and the lender's. -errno without a message. */
int bb_kept_maps__reuse(struct bb_kept_maps *k, struct bpf_object *obj);

/* After the load: keep the new maps, and read their rings. `object_path` is for messages. */
int bb_kept_maps__keep(struct bb_kept_maps *k, struct bpf_object *obj, const char *object_path,
		       struct bb_err *err);

/* The same for one map. The kept one, or the lender's, that is as `like` says: a borrowed
 * descriptor, -1: there is none. `like` needs type, sizes, max_entries (0: any) and map_flags. */
int bb_kept_maps__get(const struct bb_kept_maps *k, const char *name,
		      const struct bpf_map_info *like);
/* `fd` stays the caller's. */
int bb_kept_maps__keep_one(struct bb_kept_maps *k, const char *name, int fd,
			   const char *object_path, struct bb_err *err);

/* The ring buffer of that map, our own or the lender's; NULL: it is none. */
const struct bb_ring *bb_kept_maps__ring(const struct bb_kept_maps *k, uint32_t map_id);

/* Does a value of that type hold objects whose types are the program's own (__kptr, lists, trees)?
 * The kernel wants them in the BTF object of the program: such a map is of one load. */
bool bb_holds_own_objects(const struct btf *btf, uint32_t type_id);

/*
 * After the last descriptor of a prog array was closed: a worker of the kernel on this CPU empties
 * it then. Until that, a process that looks at all maps (bpftool map) makes the kernel count its
 * closing twice (prog_array_map_clear() takes a reference for work that is queued already), and the
 * map stays until the next boot. We run ahead of that worker, so it gets its turn now.
 */
void bb_kept_maps__let_prog_arrays_go(void);

/*
 * From the next load on, the lender's maps are used where they are alike: ours are let go, but for
 * tables with another number of entries than the lender's. Those are filled with something else (a
 * capture's contents), which is what is measured.
 */
void bb_kept_maps__borrow(struct bb_kept_maps *k, struct bb_kept_maps *lender);

/* Let go of the maps; their specs stay. */
void bb_kept_maps__drop(struct bb_kept_maps *k);

/* The patterns of maps of maps that bb_map_sizes__mend() made: descriptors, fds[n]. */
struct bb_map_patterns {
	int *fds;
	size_t n;
};

/*
 * Gives the maps of an object that is not loaded yet the sizes that its author left to the loader.
 * The same object file has the same patterns, which are made once for all of its loads. 0 or
 * -ENOMEM.
 */
int bb_map_sizes__mend(struct bpf_object *obj, struct bb_map_patterns *patterns,
		       struct bb_err *err);

void bb_map_patterns__done(struct bb_map_patterns *patterns);

#endif
