/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Empties the caches and predictors of a CPU, as far as user space can: the TLB, branch targets,
 * branch history, and the data and instruction caches. It empties those cache levels whose size is
 * at most half of BB_COLD_MAX_BYTES. For this, it writes every line of a buffer that is twice as
 * large as the largest such level, in an order that no prefetcher follows. Then it runs code that
 * has more branches than predictors hold, and random bits decide each branch.
 *
 * It cannot empty a larger cache: the L3 of a server, which other CPUs use too, keeps its lines. It
 * cannot evict a chosen line of the kernel (x86: clflush checks the address as a load does, and
 * user space may not load from it). And the system call or page fault that runs a program warms its
 * own code and data again before the program begins.
 */

/* size of the largest buffer, bytes; writing it took 5 ms on an AMD EPYC VM */
#define BB_COLD_MAX_BYTES ((size_t)32 << 20)

/* estimated time to empty the caches once, s, for progress and budgets; measured times were 0.5 to
 * 5 times as long */
#define BB_COLD_GUESS_S 1e-3

struct bb_cold;

/*
 * Allocates the buffer for the caches of `cpu`, and tests whether writing the buffer evicts other
 * lines: reading one line of each of 128 pages must then take three times as long as before. If it
 * does not, doubles the buffer and tests again. Returns 0, or -ENOTSUP with the measured times if
 * no size suffices. `root` is put in front of /sys; "" means the machine's own.
 *
 * Sizes between twice one cache level and twice the next level are bad. With such a buffer, a
 * changing share of our lines stays in the next level, because that level has other users
 * (docs/methods/cold-caches.md).
 */
int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err);

/* Empties the caches of the caller's CPU. Causes no page fault and no system call. */
void bb_cold__empty(struct bb_cold *c);

/* Empties the caches three times, and each time reads cache lines that belong to `c`. Returns the
 * median time to read one of them, ns: the longer it is, the colder the caches are when a program
 * runs after bb_cold__empty(). Causes no page fault. */
double bb_cold__line_ns(struct bb_cold *c);

/* Returns the names of the caches that `c` empties, for example "caches of 32 KiB, TLB and branch
 * history ...". The text is valid as long as `c`. */
const char *bb_cold__emptied(const struct bb_cold *c);

/* A child process must call this after fork(), because it does not inherit the buffer. */
void bb_cold__after_fork(struct bb_cold *c);

void bb_cold__free(struct bb_cold *c); /* `c` may be NULL */

/* Returns the size of the buffer to try first, bytes: a power of two, computed from the sizes of
 * the caches below `root`/sys; 4 MiB if none are known. Public for tests. */
size_t bb_cold_bytes(const char *root, int cpu);
