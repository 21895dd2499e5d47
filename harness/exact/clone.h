/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_CLONE_H
#define BB_EXACT_CLONE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"
#include "exact/rewrite.h"

/*
 * A second load of a program that counts how often each of its blocks is executed: same maps, BTF
 * and attach type. The added instructions are not counted: the instructions in `cfg`, and the sums
 * over them, are the original's.
 */
struct bb_clone {
	const struct bb_code *code; /* borrowed */
	struct bb_cfg cfg;
	int prog_fd;
	/* by block, and behind those by call in `vain`: the kernel only adds */
	struct bb_shared_memory counts;
	/* slots of calls whose coming to nothing is counted, ascending: lookups, tail calls */
	uint32_t *vain, n_vain;
	uint32_t n_unwatched; /* such calls that are not counted: the verifier refuses to */
	uint32_t n_insns;     /* slots of the instrumented program */
	/* blocks that had to save a register; jumps that became long */
	uint32_t n_saved, n_long;
};

/*
 * -ENOTSUP where it cannot be done, with the reason in the verifier's own words: no register and no
 * stack to spare, more work than the verifier does, more than 65 536 instructions with counters,
 * constructs that cannot be instrumented. `code` and its target's load outlive the clone.
 */
int bb_clone__load(const struct bb_code *code, struct bb_clone *ret_clone, struct bb_err *err);
void bb_clone__done(struct bb_clone *c);

/* Set every counter to 0, while the program does not run. */
void bb_clone__reset(const struct bb_clone *c);

/* How often the call vain[nth] came to nothing since: it found nothing, or did not jump. */
uint64_t bb_clone__in_vain(const struct bb_clone *c, uint32_t nth);

/* How often each block was executed since, into ret_counts[cfg.n_blocks]. */
void bb_clone__read(const struct bb_clone *c, uint64_t *ret_counts);

#endif
