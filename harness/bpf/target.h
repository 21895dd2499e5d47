/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"
#include "bpf/source.h"

/* A program under test: the source from which it is loaded, and its current load. Each load gets a
 * new JIT address and is the unit of replication. The maps are kept from load to load, so that only
 * the program changes. The target also reads and empties the program's ring and perf buffers. */
struct bpf_link;

struct bb_target {
	struct bb_source *source; /* the source also has the program's name */
	int prog_fd; /* descriptor of the current load; -1 means that nothing is loaded */
	struct bb_stats_reader reader;
	int jit_mod64; /* JIT address modulo 64; -1: not loaded, not compiled by the JIT, or not
			  shown by the kernel */
	/* the members from here on are for target.c only */
	/* the program's global `drops`; map_fd is -1 if it has none */
	struct bb_source_global drops;
	/* maps that later loads use again; kept.lender is the member `kept` of another target */
	struct bb_kept_maps kept;
	/* steady[n_steady], one for each element of kept.specs; NULL until bb_target__find_steady()
	 */
	struct bb_steady_map *steady;
	size_t n_steady;
	bool is_shared;
	/* contents for the maps of this load; NULL until they are first needed */
	struct bb_map_contents *contents;
};

/* Reads the object file or capture and finds the program in it, without loading it. Fails if the
 * file, the program or a global does not exist; the message lists the programs. */
int bb_target__open(const struct bb_source_spec *spec, struct bb_target **ret_target,
		    struct bb_err *err);

/*
 * Opens a live program by the path of its pin or, if `pinned` is NULL, by its id. The program is
 * never changed, its rings are not drained, and its drops are unknown. "Loading" it closes our
 * descriptor and opens a new one; this fails with -ENOENT once the program's owner has unloaded it.
 * Errors: bpf/loaded.h.
 */
int bb_target__adopt(uint32_t id, const char *pinned, struct bb_target **ret_target,
		     struct bb_err *err);
bool bb_target__is_adopted(const struct bb_target *t);

/*
 * Unloads `t` and lets its later loads use the maps of `lender`, which is loaded and must outlive
 * `t`. A map is shared if name, type, sizes, flags, the scenario's contents and the number of
 * entries are the same; exceptions are in bpf/kept_maps.h. Two programs are then compared on the
 * same memory. On pages of its own, a program differed from itself by 0.1 to 0.5 %.
 */
void bb_target__borrow_maps(struct bb_target *t, struct bb_target *lender);

/* True if `a` and `b` are different programs of the same object file. False if one is NULL. */
bool bb_target__is_of_object(const struct bb_target *a, const struct bb_target *b);

/* True if both loaded programs use the same map. Ring and perf buffers do not count. */
bool bb_target__shares_map(const struct bb_target *a, const struct bb_target *b);

/* Asks `only_reads` about each map with many entries. `only_reads` returns true if no program of
 * the load can change the map; such a map is written only once. Only the first call does something,
 * so call it before contents are written for the first time. */
struct bb_contents_map;
void bb_target__find_steady(struct bb_target *t,
			    bool (*only_reads)(const struct bb_target *t,
					       const struct bb_contents_map *map));

/* Sets the contents that bb_target__reset_maps() writes. They must outlive the target. */
void bb_target__say_maps(struct bb_target *t, const struct bb_map_specs *specs);

/* Unloads the current load, then loads the program. Returns 0 or -errno; -ENOTSUP if this kernel
 * refuses the program type or does not have it. For other errors, the message ends with the end of
 * the verifier's log. */
int bb_target__load(struct bb_target *t, struct bb_err *err);

/* A place is a JIT address modulo 64. In a set of places, bit i stands for place i. BB_ANYWHERE is
 * the set of all places, and also accepts programs whose place is unknown. */
#define BB_ANYWHERE UINT64_MAX
#define BB_PLACES 64
static inline uint64_t bb_place(int mod64)
{
	return mod64 < 0 ? BB_ANYWHERE : (uint64_t)1 << mod64;
}

/* Loads the program up to `max_tries` times, until its place is in the set `where`. Returns -EAGAIN
 * if its place never is in that set. Each load adds 1 to seen[place]; `seen` has BB_PLACES elements
 * and may be NULL. */
int bb_target__load_at(struct bb_target *t, uint64_t where, unsigned int max_tries, uint32_t *seen,
		       struct bb_err *err);

/* Reads the static metrics of the loaded program. To get the verifier's statistics, the program may
 * be loaded once more, beside the current load. The statistics are NAN on kernels before 5.2. */
int bb_target__describe(struct bb_target *t, struct bb_prog_facts *ret_facts, struct bb_err *err);

void bb_target__unload(struct bb_target *t); /* unloads the program and keeps the maps */
void bb_target__free(struct bb_target *t);

/*
 * Attaches the loaded program where its section says, such as at a tracepoint or uprobe. The link
 * keeps the program alive beyond its load, until bpf_link__destroy() or the end of the process.
 * -ENOTSUP if the section names no hook, or the kernel refuses; the message gives the reason.
 */
int bb_target__attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err);

/* Writes into the program's maps how to find the arguments of the static probe (USDT) PROVIDER:NAME
 * in the file `path`. The caller then attaches the program with the cookies of
 * fire/user_function.h. Returns -ENOTSUP with the reason if that is not possible. */
int bb_target__fill_usdt(struct bb_target *t, const char *path, const char *provider,
			 const char *name, struct bb_err *err);

/* Returns the section name that decides the type of the loaded program, and its expected attach
 * type (BPF_*); NULL if unknown. */
const char *bb_target__section(const struct bb_target *t, uint32_t *ret_attach_type);

/* Returns the descriptor of the struct_ops map that has the loaded program as a member, borrowed;
 * -1 if no map has it. */
int bb_target__struct_ops_fd(const struct bb_target *t);

/* True if the object file has a prog array. Another program may then tail-call this one, so the
 * section of this one need not name a hook. */
bool bb_target__may_be_jumped_to(const struct bb_target *t);

/* Asks the kernel for the type of the loaded program, enum bpf_prog_type. */
int bb_target__prog_type(const struct bb_target *t, uint32_t *ret_type, struct bb_err *err);

/* Copies the code of the current load; the caller must call bb_code__done(). -ENOTSUP with the
 * reason for programs that cannot be loaded a second time. */
int bb_target__code(const struct bb_target *t, struct bb_code *ret_code, struct bb_err *err);
/* Returns the name of the i-th program of the object or capture, NULL after the last. *ret_fd is -1
 * if that program is not loaded. */
const char *bb_target__loaded(const struct bb_target *t, size_t i, int *ret_fd);
/* Copies the code of a loaded program of the object or capture, given by its descriptor. */
int bb_target__code_of(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		       struct bb_err *err);

/* Write the contents that the scenario gives to the maps of the current load. reset_maps() writes
 * all of them before a series. reset_for_run() writes those with `reset: run` before a run, and
 * returns -errno without a message. */
int bb_target__reset_maps(struct bb_target *t, struct bb_err *err);
int bb_target__reset_for_run(struct bb_target *t);

/* Returns the memory, in bytes, of all maps for which `fill` in the scenario lists several numbers
 * of entries. NAN if the kernel does not report it. */
double bb_target__filled_bytes(const struct bb_target *t);

/* Reads the program's global `drops`; *ret_drops is 0 if it has none. Returns 0 or -errno. */
int bb_target__drops(const struct bb_target *t, uint64_t *ret_drops);

/* Returns the ring buffer of the loaded program, borrowed until the next load; NULL if none. */
struct bb_ring;
const struct bb_ring *bb_target__ring(const struct bb_target *t);

/* Prepares a forked child for bb_target__drain(). If this returns an error, the child must not call
 * bb_target__drain(). */
int bb_target__after_fork(const struct bb_target *t);

/* Discards the records that the program wrote. With `only_when_half_full`, rings that are less
 * than half full keep their records. */
void bb_target__drain(struct bb_target *t, bool only_when_half_full);
