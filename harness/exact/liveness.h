/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_LIVENESS_H
#define BB_EXACT_LIVENESS_H

#include <stdint.h>

#include "base/err.h"
#include "exact/cfg.h"

/*
 * Registers r0..r9 before each instruction, as bits: those whose value may still be read (`live`:
 * the others are free to be used), and those that surely hold one (`known`: the verifier lets no
 * other be saved).
 */
struct bb_liveness {
	uint16_t *live, *known; /* by slot; second halves of constants have none */
};

#define BB_REG(n) ((uint16_t)(1U << (n)))

/* The registers that an instruction writes or leaves without a value, as bits. */
uint16_t bb_insn_writes(const struct bpf_insn *i);

int bb_liveness__make(const struct bb_code *code, const struct bb_cfg *g,
		      struct bb_liveness *ret_live, struct bb_err *err);
void bb_liveness__done(struct bb_liveness *l);

/* Facts about the kernel's helpers, by number. Their list is closed: newer functions are kfuncs. */

/* How many registers from r1 on a helper reads; 5 for one that nothing is known of. */
unsigned int bb_helper__args(int32_t id);

/* "map_lookup_elem"; NULL: unknown to the headers this was built with. */
const char *bb_helper__name(int32_t id);

#endif
