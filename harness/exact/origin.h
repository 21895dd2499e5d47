/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_ORIGIN_H
#define BB_EXACT_ORIGIN_H

#include <stdint.h>

#include "bpf/code.h"
#include "exact/cfg.h"

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

/* Of `reg` (0..9) before slot `at`: back over all ways that lead there, which must agree. Of long
 * ways it is unknown. */
struct bb_origin bb_origin_of(const struct bb_code *code, const struct bb_cfg *g, uint32_t at,
			      uint8_t reg);

#endif
