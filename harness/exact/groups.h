/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_GROUPS_H
#define BB_EXACT_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "exact/cfg.h"
#include "bpf/code.h"

/*
 * Blocks whose executions are in one and the same proportion in every case: no input tells their
 * costs apart, so they are one. Blocks that are never executed are in none.
 */
struct bb_group {
	uint32_t n_blocks;
	uint32_t n_insns; /* that are executed when its rarest block is executed once */
	uint64_t *counts; /* by case: executions of its rarest block */
	/* "fun_xdp.h:34-36,40"; "insns 12-20" where there is no line information */
	char *where;
};

/*
 * counts[n_cases][g->n_blocks]: executions of every block in each case. In the order of their first
 * blocks. free with bb_groups__free(). 0 or -ENOMEM.
 */
int bb_groups__make(const struct bb_code *code, const struct bb_cfg *g, const uint64_t *counts,
		    size_t n_cases, struct bb_group **ret_groups, size_t *ret_n,
		    struct bb_err *err);
void bb_groups__free(struct bb_group *groups, size_t n);

#endif
