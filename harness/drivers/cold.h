/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_COLD_H
#define BB_DRIVERS_COLD_H

#include "base/err.h"
#include "base/std.h"

/*
 * Empties the caches and predictors of a CPU, as far as user space can: data and instruction caches
 * up to the last level that BB_COLD_MAX_BYTES are twice of, the TLB, branch targets and branch
 * history. A buffer of twice that level is written page by page in an order that no prefetcher
 * follows, and a stretch of code with more branches than predictors hold is run on random bits.
 *
 * It cannot: evict a larger cache (the L3 of a server, which it shares with others, keeps its
 * lines); name a line of the kernel's (x86: clflush checks the address as a load does); make a
 * program colder than what leads to it leaves it: the system call or fault that runs the program
 * has warmed its own code and data by then.
 */
#define BB_COLD_MAX_BYTES                                                                          \
	((size_t)32 << 20) /* 5 ms a turn on the machine that this was written on */

#define BB_COLD_GUESS_S                                                                            \
	1e-3 /* a turn, for progress and budgets: half of it to five times it were seen */

struct bb_cold;

/*
 * The buffer for the caches of `cpu`, after a look at whether writing it evicts: 128 lines of as
 * many pages have to take three times as long to read again, or the buffer is doubled. -ENOTSUP
 * with the times when nothing helps, -ENOMEM. `root` is put before /sys ("": the machine's).
 *
 * A buffer between twice the one level and twice the next leaves a share of our lines in the next
 * that changes all the time, as its other users do: on an AMD EPYC VM (L2 1 MiB, L3 32 MiB) a line
 * took 15.6 to 16.5 ns after 2 MiB, 16 to 27 after 4, 35 to 180 after 16, 190 to 230 after 32.
 */
int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err);

/* The caller's CPU is cold now. No page fault, no system call. */
void bb_cold__empty(struct bb_cold *c);

/* Empties, and says how long a line of ours takes to read then: ns, the median of 3. What a turn's
 * samples are worth depends on it. No page fault. */
double bb_cold__line_ns(struct bb_cold *c);

/* "L1, L2, TLB and branch history (...)"; valid as long as c. */
const char *bb_cold__emptied(const struct bb_cold *c);

/* In a child that fork() made, before it empties anything: the buffer is not passed on. 0 or
 * -ENOMEM. */
int bb_cold__after_fork(struct bb_cold *c);

void bb_cold__free(struct bb_cold *c); /* takes NULL */

/* The first size of the buffer: a power of two, from the sizes below `root`/sys; 4 MiB where there
 * are none. */
size_t bb_cold_bytes(const char *root, int cpu);

#endif
