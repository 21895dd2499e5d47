/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/*
 * Empties the caches and predictors of a CPU, as far as user space can. These are the TLB, the
 * branch predictors, and each data or instruction cache that is at most half as large as
 * BB_COLD_MAX_BYTES. bpfbench writes every line of a buffer twice as large as the largest of these
 * caches, in an order that no prefetcher follows. Then it runs more branches than the predictors
 * hold. Random bits decide each branch.
 *
 * A larger cache is not emptied, such as the L3 of a server, which other CPUs use, too. User space
 * also cannot flush the kernel's lines from such a cache by address, because clflush (x86) accepts
 * only addresses that user space may read. A system call or page fault runs the program. The
 * kernel's code and data for this call or fault are in the caches again when the program begins.
 */

/* size of the largest buffer, bytes; writing it took 5 ms on an AMD EPYC VM */
#define BB_COLD_MAX_BYTES ((size_t)32 << 20)

/* estimated time to empty the caches once, s; measured times were 0.5 to 5 ms */
#define BB_COLD_GUESS_S 1e-3

struct bb_cold;

/* Allocates the buffer for the caches of `cpu`. Then tests whether writing the buffer evicts other
 * lines: reading such a line must take three times as long as with hot caches. If it does not, the
 * function doubles the buffer and tests again. A size between twice one cache level and twice the
 * next level would be bad, because a changing share of the buffer would stay in the next level,
 * which has other users (docs/methods/cold-caches.md). Returns 0, or -ENOTSUP with a message if no
 * size suffices or if the machine does not let bpfbench run code that it has written. `root` is put
 * in front of /sys; "" means the machine's own. */
int bb_cold__open(const char *root, int cpu, struct bb_cold **ret_cold, struct bb_err *err);

/* Empties the caches of the caller's CPU. Causes no page fault and no system call. */
void bb_cold__empty(struct bb_cold *c);

/* Empties the caches three times, and measures each time how long reading a cache line takes.
 * Returns the median, ns. The longer this time is, the colder the caches are. Causes no page
 * fault. */
double bb_cold__line_ns(struct bb_cold *c);

/* Returns a text that describes the emptied caches. The text is valid as long as `c`. */
const char *bb_cold__emptied(const struct bb_cold *c);

/* Allocates a new buffer for `c`, and touches all pages of this buffer, so that later calls cause
 * no page fault. A child process must call this function after fork(), before it uses `c`. It does
 * not inherit the buffer of its parent. */
void bb_cold__after_fork(struct bb_cold *c);

void bb_cold__free(struct bb_cold *c); /* `c` may be NULL */

/* Returns the size of the buffer that bb_cold__open() tries first, from the cache sizes below
 * `root`/sys. Declared here for tests. */
size_t bb_cold_bytes(const char *root, int cpu);
