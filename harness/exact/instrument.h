/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_INSTRUMENT_H
#define BB_EXACT_INSTRUMENT_H

#include <stdint.h>

#include "base/err.h"
#include "exact/cfg.h"
#include "exact/liveness.h"

/*
 * Where in a block its counter goes, and with which two registers. Anywhere in the block counts the
 * same, so it goes where two registers are free, or else where the fewest have to be saved.
 */
struct bb_site {
	uint32_t at; /* before this slot */
	uint8_t reg[2];
	/* 0: free; n: in use, saved in the function's n-th slot below its stack */
	uint8_t save[2];
};

struct bb_sites {
	struct bb_site *of; /* by block */
	uint8_t *saves;     /* by function: slots that its blocks need, 0..2 */
	uint32_t n_saved;   /* blocks that save something */
	/* slots of the calls that may come to nothing, ascending: lookups in maps, tail calls */
	uint32_t *vain;
	uint32_t n_vain;
};

/* -ENOTSUP when there is a block with neither registers that are free nor some that could be saved.
 */
int bb_sites__find(const struct bb_code *code, const struct bb_cfg *g, const struct bb_liveness *l,
		   struct bb_sites *ret_sites, struct bb_err *err);
/* Leave out the lookups, each of which adds a branch, or where only tail calls are left, these. */
void bb_sites__watch_less(struct bb_sites *p, const struct bb_code *code);
void bb_sites__done(struct bb_sites *p);

/*
 * The program again, with a counter in every block: counts[block]++ in a map value of 8 bytes a
 * block, atomically, and one behind those for each call that came to nothing. Jumps, calls and
 * callbacks are mended; a jump that no longer reaches becomes a long one.
 */
struct bb_instrumented {
	struct bpf_insn *insns;
	uint32_t n;
	/* by old slot, and one more for the end: where it is now, its counter before it */
	uint32_t *moved;
	uint32_t n_long;  /* jumps that became long ones */
	const char *with; /* in messages: its additions, "counters" */
};

/* `stack_bytes[function]` is the deepest that each one's stack reaches; saved registers go below.
 * */
int bb_instrument(const struct bb_code *code, const struct bb_cfg *g, const struct bb_sites *sites,
		  const uint32_t *stack_bytes, int counts_fd, struct bb_instrumented *ret_new,
		  struct bb_err *err);
void bb_instrumented__done(struct bb_instrumented *p);

#endif
