/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"
#include "bpf/source.h"

/* A program under test, with its source and its current load. Each load gets a new JIT address and
 * counts as one replication. Maps are kept from load to load, so that only the program changes. */
struct bpf_link;

struct bb_target {
	const struct bb_source_ops *ops;
	char *program;
	char *where; /* the object's path, for messages */
	int prog_fd; /* descriptor of the current load; -1 if nothing is loaded */
	struct bb_stats_reader reader;
	int jit_mod64; /* JIT address modulo 64; -1 if unknown or not loaded */
	/* the members from here on are for target.c and the sources only */
	/* map_fd is -1 if the program has no global `drops` */
	struct bb_source_global drops;
	/* kept.lender is the member `kept` of another target */
	struct bb_kept_maps kept;
	/* one for each element of kept.specs; NULL before bb_target__find_steady() */
	struct bb_steady_map *steady;
	size_t n_steady;
	bool is_shared;
	/* contents for the maps of this load; NULL until they are first needed */
	struct bb_map_contents *contents;
};

/* Finds a program, without loading it. A live program is never changed, its rings are not drained,
 * and its drops are unknown. "Loading" it opens our descriptor anew, which fails with -ENOENT once
 * its owner has unloaded it. */
int bb_target__open(const struct bb_source_spec *spec, struct bb_target **ret_target,
		    struct bb_err *err);
bool bb_target__is_live(const struct bb_target *t);

/* Unloads `t` and lets its later loads use the maps of `lender`, which is loaded and must outlive
 * `t`. Two programs are then compared on the same memory. On pages of its own, a program differed
 * from itself by 0.1 to 0.5 %. */
void bb_target__borrow_maps(struct bb_target *t, struct bb_target *lender);

/* True if `a` and `b` are different programs of the same object file. Either may be NULL. */
bool bb_target__is_of_object(const struct bb_target *a, const struct bb_target *b);

/* True if both loaded programs use the same map. Ring and perf buffers do not count. */
bool bb_target__shares_map(const struct bb_target *a, const struct bb_target *b);

/* Asks `only_reads` about each large map. If it returns true, no program of the load can change the
 * map, which is then written only once. Only the first call has an effect. */
struct bb_contents_map;
void bb_target__find_steady(struct bb_target *t,
			    bool (*only_reads)(const struct bb_target *t,
					       const struct bb_contents_map *map));

/* Sets the contents that bb_target__reset_maps() writes. They must outlive the target. */
void bb_target__say_maps(struct bb_target *t, const struct bb_map_specs *specs);

/* Loads the program anew. Fails with -ENOTSUP if this kernel does not have the program type, or
 * refuses it. For other errors, the message ends with the end of the verifier's log. */
int bb_target__load(struct bb_target *t, struct bb_err *err);

/* A place is a JIT address modulo 64. In a set of places, bit i stands for place i. BB_ANYWHERE
 * also accepts programs whose place is unknown. */
#define BB_ANYWHERE UINT64_MAX
#define BB_PLACES 64
static inline uint64_t bb_place(int mod64)
{
	return mod64 < 0 ? BB_ANYWHERE : (uint64_t)1 << mod64;
}

/* Loads the program until its place is in the set `where`, at most `max_tries` times, else returns
 * -EAGAIN. Each load adds 1 to seen[place]. `seen` has BB_PLACES elements, or is NULL. */
int bb_target__load_at(struct bb_target *t, uint64_t where, unsigned int max_tries, uint32_t *seen,
		       struct bb_err *err);

/* Reads the static metrics of the loaded program. May load it once more for the verifier's
 * statistics. */
int bb_target__describe(struct bb_target *t, struct bb_prog_facts *ret_facts, struct bb_err *err);

void bb_target__unload(struct bb_target *t); /* keeps the maps */
void bb_target__free(struct bb_target *t);

/* Attaches the loaded program where its section says. The link keeps the program alive until
 * bpf_link__destroy(). Fails with -ENOTSUP if the section names no hook, or if the kernel
 * refuses. */
int bb_target__attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err);

/* Writes into the program's maps how to find the arguments of the static probe (USDT) PROVIDER:NAME
 * in the file `path`. The caller then attaches the program with the cookies of
 * fire/user_function.h. */
int bb_target__fill_usdt(struct bb_target *t, const char *path, const char *provider,
			 const char *name, struct bb_err *err);

/* Returns the section name that decides the program's type, or NULL if it is unknown. */
const char *bb_target__section(const struct bb_target *t, uint32_t *ret_attach_type);

/* Returns the struct_ops map that has the loaded program as a member, borrowed, or -1. */
int bb_target__struct_ops_fd(const struct bb_target *t);

/* True if the object file has a prog array. Then this program may be tail-called and need not name
 * a hook. */
bool bb_target__may_be_jumped_to(const struct bb_target *t);

int bb_target__prog_type(const struct bb_target *t, uint32_t *ret_type, struct bb_err *err);

/* Copies the code of a program of the current load: prog_fd is t->prog_fd, or that of
 * bb_target__loaded(). Fails with -ENOTSUP if it cannot be loaded a second time. */
int bb_target__code(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		    struct bb_err *err);
/* Returns the i-th program of the object, or NULL. *ret_fd is -1 if that program is not loaded. */
const char *bb_target__loaded(const struct bb_target *t, size_t i, int *ret_fd);

/* Write the contents that the scenario gives to the maps. reset_maps() writes all of them before a
 * series. reset_for_run() writes those with `reset: run` before a run, and returns -errno without a
 * message. */
int bb_target__reset_maps(struct bb_target *t, struct bb_err *err);
int bb_target__reset_for_run(struct bb_target *t);

/* Returns the memory, in bytes, of the maps for which the scenario's `fill` lists several sizes, or
 * NAN. */
double bb_target__filled_bytes(const struct bb_target *t);

/* Reads the program's global `drops`, or 0 if it has none. Returns 0 or -errno without a
 * message. */
int bb_target__drops(const struct bb_target *t, uint64_t *ret_drops);

/* Returns a ring buffer of the loaded program, borrowed until the next load, or NULL. */
struct bb_ring;
const struct bb_ring *bb_target__ring(const struct bb_target *t);

/* Prepares a forked child for bb_target__drain(). After an error, the child must not call it. */
int bb_target__after_fork(const struct bb_target *t);

/* Discards the program's records. `only_when_half_full` spares rings that are less than half
 * full. */
void bb_target__drain(struct bb_target *t, bool only_when_half_full);
