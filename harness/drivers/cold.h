/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Empties the caches and predictors of a CPU, as far as user space can: the TLB, branch targets and
 * history, and the data and instruction caches up to half of BB_COLD_MAX_BYTES. It writes every
 * line of a buffer twice as large as the largest of these caches, in an order that no prefetcher
 * follows. Then it runs more branches than predictors hold, and random bits decide each branch.
 *
 * A larger cache is not emptied, such as the L3 of a server, which other CPUs use, too. User space
 * cannot evict lines of the kernel (x86: clflush checks the address as a load does). And the system
 * call or page fault that runs a program warms its own code and data before the program begins.
 */

/* size of the largest buffer, bytes; writing it took 5 ms on an AMD EPYC VM */
#define BB_COLD_MAX_BYTES ((size_t)32 << 20)

/* estimated time to empty the caches once, s; measured times were 0.5 to 5 ms */
#define BB_COLD_GUESS_S 1e-3

struct bb_cold;

/* Allocates the buffer for the caches of `cpu`, and tests whether writing it evicts other lines:
 * reading a line must then take three times as long. If it does not, doubles the buffer and tests
 * again. A size between twice one cache level and twice the next level would be bad, because a
 * changing share of the buffer would stay in the next level, which has other users
 * (docs/methods/cold-caches.md). Returns 0, or -ENOTSUP with the measured times if no size
 * suffices. `root` is put in front of /sys; "" means the machine's own. */
int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err);

/* Empties the caches of the caller's CPU. Causes no page fault and no system call. */
void bb_cold__empty(struct bb_cold *c);

/* Returns the median time to read a cache line after bb_cold__empty(), ns, of three tries. The
 * longer it is, the colder the caches are. Causes no page fault. */
double bb_cold__line_ns(struct bb_cold *c);

/* Returns a description of the emptied caches, which is valid as long as `c`. */
const char *bb_cold__emptied(const struct bb_cold *c);

/* A child process must call this after fork(), because it does not inherit the buffer. */
void bb_cold__after_fork(struct bb_cold *c);

void bb_cold__free(struct bb_cold *c); /* `c` may be NULL */

/* Returns the size of the buffer to try first, from the cache sizes below `root`/sys. For tests. */
size_t bb_cold_bytes(const char *root, int cpu);
