/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_REGISTERS_H
#define BB_EXACT_REGISTERS_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * Registers r0..r9 before each instruction, as bits: those whose value may still be read (`live`:
 * the others are free to be used), and those that surely hold one (`known`: the verifier lets no
 * other be saved).
 */
struct bb_registers {
	uint16_t *live, *known; /* by slot; second halves of constants have none */
};

#define BB_REG(n) ((uint16_t)(1U << (n)))

int bb_registers__find(const struct bb_code *code, const struct bb_cfg *g,
		       struct bb_registers *ret_regs, struct bb_err *err);
void bb_registers__done(struct bb_registers *r);

/*
 * Two registers to use before slot `at`: free ones, or else some that are to be saved meanwhile, of
 * which save[] says in which of two places (1 or 2; 0: it is free). Returns how many are to be
 * saved; BB_NO_TWO: there are no two.
 */
#define BB_NO_TWO 3u
unsigned int bb_registers__two(const struct bb_registers *r, uint32_t at, uint8_t ret_reg[2],
			       uint8_t ret_save[2]);

/* What a register holds before an instruction, as far as the code alone shows it. */
enum bb_origin_kind {
	BB_ORIGIN_UNKNOWN,
	BB_ORIGIN_NUMBER,    /* the constant `value` */
	BB_ORIGIN_MAP,       /* the map with the descriptor `value` */
	BB_ORIGIN_INNER_MAP, /* a map that was looked up in that one */
};

struct bb_origin {
	enum bb_origin_kind kind;
	int32_t value;
};

/* Of `reg` (0..9) before slot `at`: back over all paths that lead there, which must agree. Of long
 * paths it is unknown. */
struct bb_origin bb_origin_of(const struct bb_code *code, const struct bb_cfg *g, uint32_t at,
			      uint8_t reg);

/* Facts about the kernel's helpers, by number. Their list is closed: newer functions are kfuncs. */

/* How many registers from r1 on a helper reads; 5 for one that nothing is known of. */
unsigned int bb_helper__args(int32_t id);

/* "map_lookup_elem"; NULL: unknown to the headers this was built with. */
const char *bb_helper__name(int32_t id);

#endif
