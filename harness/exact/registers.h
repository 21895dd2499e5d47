/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* Sets of the registers r0..r9 before each instruction, as bits. The value of a `live` register may
 * still be read, so the others are free. A `known` register surely holds a value. The verifier lets
 * us save only known registers. */
struct bb_registers {
	uint16_t *live, *known; /* by slot; the second half of a 64-bit constant has no set */
};

#define BB_REG(n) ((uint16_t)(1U << (n)))

void bb_registers__find(const struct bb_code *code, const struct bb_cfg *g,
			struct bb_registers *ret_regs);
void bb_registers__done(struct bb_registers *r);

/* Finds two registers that added code can use before slot `at`. If ret_save[k] is not 0, the code
 * must save register ret_reg[k] in the stack slot of this number, 1 or 2. Returns how many
 * registers must be saved, or BB_NO_TWO if there are no two. */
#define BB_NO_TWO 3u
unsigned int bb_registers__two(const struct bb_registers *r, uint32_t at, uint8_t ret_reg[2],
			       uint8_t ret_save[2]);

/* Where the value of a register before an instruction comes from. */
enum bb_origin_kind {
	BB_ORIGIN_UNKNOWN,
	BB_ORIGIN_NUMBER, /* the constant `value` */
	BB_ORIGIN_MAP,    /* the map with the descriptor `value` */
	/* something that was looked up in the map with the descriptor `value` */
	BB_ORIGIN_INNER_MAP,
	/* computed from a global variable at byte `offset` of the only value of the map with the
	 * descriptor `value` */
	BB_ORIGIN_GLOBAL,
	/* the address of a global variable, which `value` and `offset` tell as for
	 * BB_ORIGIN_GLOBAL */
	BB_ORIGIN_GLOBAL_AT,
	BB_ORIGIN_CONTEXT_AT, /* the address of the program's context */
};

struct bb_origin {
	enum bb_origin_kind kind;
	int32_t value, offset;
};

/* Finds the value of `reg` (0..9) before slot `at` by going back over all paths. The value is
 * unknown if the paths disagree or are too long. */
struct bb_origin bb_origin_of(const struct bb_code *code, const struct bb_cfg *g, uint32_t at,
			      uint8_t reg);

/* Returns a bit for each 8-byte word of the context that the program reads. Bit 63 stands for all
 * words from 63 on. Returns 0 if not all reads are known, because the program stores the context's
 * address or passes it to a function of its own. */
uint64_t bb_context_words(const struct bb_code *code, const struct bb_cfg *g);

/* Facts about the kernel's helpers, by number. The kernel adds no helpers any more, only kfuncs. */

/* Returns 5 for an unknown helper. */
unsigned int bb_helper__args(int32_t id);

/* Returns a name such as "map_lookup_elem", or NULL if the headers of our build lack the helper. */
const char *bb_helper__name(int32_t id);
