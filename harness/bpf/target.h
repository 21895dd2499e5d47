/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_TARGET_H
#define BB_BPF_TARGET_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "bpf/prog_stats.h"
#include "bpf/source.h"
#include "plan/scenario.h"

/*
 * One program under test: the object it comes from, and its current load. Loading again gives a new
 * placement by the JIT, which is the unit of replication; maps are kept from load to load, so that
 * only the program changes. The target also plays the reader of the program's ring and perf
 * buffers: it empties them when asked.
 */
struct bpf_link;

struct bb_target {
	struct bb_source *source; /* where it comes from; its name */
	int prog_fd;              /* of the current load; -1: none */
	struct bb_stats_reader reader;
	int jit_mod64; /* 0..63, or -1 when the kernel does not say */
	/* private */
	struct bb_source_global drops; /* map_fd -1: the program has no `drops` */
	/* of the first load or of the lender, used by the later loads */
	struct bb_kept_maps kept;
	/* ready to be written to the maps of this load; NULL: not yet */
	struct bb_map_contents *contents;
};

/*
 * Reads the object file or capture and finds the program in it, without loading it. Fails if the
 * file, the program or a global does not exist; the message lists the programs.
 */
int bb_target__open(const struct bb_source_spec *spec, struct bb_target **ret_target,
		    struct bb_err *err);

/*
 * A live program, by its id or, unless NULL, by the path of its pin. It is looked at, never
 * changed: a "load" of it lets go of it and takes it up again, which fails with -ENOENT when its
 * owner has let go, too; nothing of it is drained, and its drops are not known. Errors:
 * bpf/loaded.h.
 */
int bb_target__adopt(uint32_t id, const char *pinned, struct bb_target **ret_target,
		     struct bb_err *err);
bool bb_target__is_adopted(const struct bb_target *t);

/*
 * From its next load on (it is unloaded now), let `t` use the maps of `lender` (loaded, and
 * outliving t) where name, type, sizes, the scenario's contents and the number of entries are the
 * same: two programs are then compared on the same memory. Where a map's pages lie moved a
 * comparison of a program with itself by 0.1 to 0.5 %.
 */
void bb_target__borrow_maps(struct bb_target *t, struct bb_target *lender);

/* Is `b` another program of the same object file as `a`? NULL is of none. */
bool bb_target__is_of_object(const struct bb_target *a, const struct bb_target *b);

/* Does the loaded program use a map, other than its output, that the loaded `b` uses, too? */
bool bb_target__shares_map(const struct bb_target *a, const struct bb_target *b);

/* Set the contents that bb_target__reset_maps() gives to the maps of later loads; borrowed for the
 * target's lifetime. */
void bb_target__say_maps(struct bb_target *t, const struct bb_map_specs *specs);

/*
 * Load the program anew; the previous load goes. -ENOTSUP: this kernel refuses or lacks the type
 * (the message says which). Otherwise the message carries the end of the verifier's log.
 */
int bb_target__load(struct bb_target *t, struct bb_err *err);

/*
 * Where the JIT may put a load: a set of addresses mod 64, bit i for i. One that is not known is in
 * BB_ANYWHERE alone.
 */
#define BB_ANYWHERE UINT64_MAX
#define BB_PLACES 64
static inline uint64_t bb_place(int mod64)
{
	return mod64 < 0 ? BB_ANYWHERE : (uint64_t)1 << mod64;
}

/* The same, again and again until the JIT address mod 64 is one of `where`, `max_tries` at the
 * most; -EAGAIN then. Every load is counted in seen[BB_PLACES]; NULL: nobody counts. */
int bb_target__load_at(struct bb_target *t, uint64_t where, unsigned int max_tries, uint32_t *seen,
		       struct bb_err *err);

/*
 * The static metrics of the loaded program, without running it. The verifier's statistics come from
 * one more load beside the current one, which stays as it is; a kernel that gives none (before 5.2)
 * leaves them NAN.
 */
int bb_target__describe(struct bb_target *t, struct bb_prog_facts *ret_facts, struct bb_err *err);

void bb_target__unload(struct bb_target *t); /* the program only; maps stay */
void bb_target__free(struct bb_target *t);

/*
 * Attach the loaded program where its section says (a tracepoint, a uprobe, ...). The link holds
 * the program, outlives its load and goes by bpf_link__destroy() or with the
 * process. -ENOTSUP: the section names no place, or the kernel does not let it there; the message
 * says which.
 */
int bb_target__attach(struct bb_target *t, struct bpf_link **ret_link, struct bb_err *err);

/*
 * Let the loaded program find the arguments of a static probe (usdt); it is attached to it with the
 * numbers of fire/user_function.h then. -ENOTSUP with the reason.
 */
int bb_target__fill_usdt(struct bb_target *t, const char *path, const char *provider,
			 const char *name, struct bb_err *err);

/* The section of the loaded program and its expected attach type (BPF_*); NULL: not known. */
const char *bb_target__section(const struct bb_target *t, uint32_t *ret_attach_type);

/* The struct_ops map that the loaded program is a member of, borrowed; -1: it is none. */
int bb_target__struct_ops_fd(const struct bb_target *t);

/* Has its object file a prog array, by which another program may jump to it? Its section need not
 * name a hook then. */
bool bb_target__may_be_jumped_to(const struct bb_target *t);

/* The type that the kernel has for the program, enum bpf_prog_type. */
int bb_target__prog_type(const struct bb_target *t, uint32_t *ret_type, struct bb_err *err);

/*
 * The code of the current load; bb_code__done() it. -ENOTSUP, with the reason, for programs that
 * cannot be loaded again as they are.
 */
int bb_target__code(const struct bb_target *t, struct bb_code *ret_code, struct bb_err *err);
/* The name of the i-th program of the current load, loaded or not (*ret_fd < 0), itself among them;
 * NULL: there are no more. And the code of one that is. */
const char *bb_target__loaded(const struct bb_target *t, size_t i, int *ret_fd);
int bb_target__code_of(const struct bb_target *t, int prog_fd, struct bb_code *ret_code,
		       struct bb_err *err);

/*
 * Let the maps of the current load hold exactly what the scenario says: when a series begins, and
 * those with `reset: run` before every run. Does nothing where no map asks for it. The second
 * returns -errno without a message.
 */
int bb_target__reset_maps(struct bb_target *t, struct bb_err *err);
int bb_target__reset_for_run(struct bb_target *t);

/* The program's global `drops`, 0 when it has none. 0 or -errno. */
int bb_target__drops(const struct bb_target *t, uint64_t *ret_drops);

/* The ring buffer map that the loaded program writes to; NULL: it has none. Borrowed, until the
 * next load. */
struct bb_ring;
const struct bb_ring *bb_target__ring(const struct bb_target *t);

/* Once, in a child that fork() made, before it drains. 0 or -errno: it may not. */
int bb_target__after_fork(const struct bb_target *t);

/* Throw away the records that the program delivered. `only_when_half_full`: leave a ring alone
 * until it must be emptied. */
void bb_target__drain(struct bb_target *t, bool only_when_half_full);

#endif
