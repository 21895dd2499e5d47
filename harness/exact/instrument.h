/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_INSTRUMENT_H
#define BB_EXACT_INSTRUMENT_H

#include <stdint.h>

#include "base/err.h"
#include "exact/cfg.h"
#include "exact/sites.h"

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
