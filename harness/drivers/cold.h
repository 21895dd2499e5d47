/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Empties the caches and predictors of a CPU, as far as user space can: the TLB, branch targets,
 * branch history, and the data and instruction caches. It empties those cache levels that hold at
 * most half of BB_COLD_MAX_BYTES. For this, it writes a buffer of twice the size of the largest
 * such level, page by page, in an order that no prefetcher follows. Then it runs code that has more
 * branches than predictors hold, on random bits.
 *
 * It cannot empty a larger cache: the L3 of a server, shared with others, keeps its lines. It
 * cannot evict a chosen line of the kernel (x86: clflush checks the address as a load does). The
 * system call or page fault that runs a program warms its own code and data again before the
 * program begins.
 */

/* largest buffer: 5 ms per emptying on the machine that this was written on */
#define BB_COLD_MAX_BYTES ((size_t)32 << 20)

/* guess for progress and budgets: time to empty once, s; 0.5 to 5 times this time was seen */
#define BB_COLD_GUESS_S 1e-3

struct bb_cold;

/*
 * Allocates the buffer for the caches of `cpu`, and tests whether writing it evicts. After the
 * write, reading one line of each of 128 pages must take three times as long as before; if not, the
 * buffer is doubled. Returns 0, or -ENOTSUP with the times if no size helps. `root` is put in front
 * of /sys; "" means the machine's own.
 *
 * If the buffer is larger than twice one cache level and smaller than twice the next level, a
 * changing share of our lines stays in the next level, because that level has other users. On an
 * AMD EPYC VM (L2 1 MiB, L3 32 MiB) reading a line took 15.6 to 16.5 ns after a buffer of 2 MiB was
 * written, 16 to 27 ns after 4 MiB, 35 to 180 ns after 16 MiB, and 190 to 230 ns after 32 MiB.
 */
int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err);

/* Empties the caches of the caller's CPU. Causes no page fault and no system call. */
void bb_cold__empty(struct bb_cold *c);

/* Empties the caches three times. Returns the median time to read a line of ours after an
 * emptying, ns. This time says how cold the samples of a turn are. Causes no page fault. */
double bb_cold__line_ns(struct bb_cold *c);

/* Returns for example "caches of 32 KiB, TLB and branch history (...)". Valid as long as `c`. */
const char *bb_cold__emptied(const struct bb_cold *c);

/* A child process must call this after fork() and before it empties anything, because it does not
 * inherit the buffer. */
void bb_cold__after_fork(struct bb_cold *c);

void bb_cold__free(struct bb_cold *c); /* takes NULL */

/* Returns the first size of the buffer: a power of two, computed from the sizes below
 * `root`/sys; 4 MiB if there are none. */
size_t bb_cold_bytes(const char *root, int cpu);
