/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/counts.h"

#include <string.h>

#include "bpf/insn.h"

uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		sum += counts[b] * g->blocks[b].n_insns;
	return sum;
}

uint32_t bb_counts__reached(const struct bb_cfg *g, const uint64_t *before, const uint64_t *counts)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		if (counts[b] != (before ? before[b] : 0))
			n += g->blocks[b].n_insns;
	return n;
}

uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts)
{
	uint64_t hash = 14695981039346656037U;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		for (unsigned int shift = 0; shift < 64; shift += 8)
			hash = (hash ^ (counts[b] >> shift & 0xff)) * 1099511628211U;
	return hash;
}

bool bb_counts__are_whole(const struct bb_cfg *g, const struct bb_code *code, uint64_t runs,
			  const uint64_t *counts, uint64_t *in)
{
	bool comes_back = true;
	uint64_t exits = 0;

	/* It may end in the middle of a block, by a tail call that succeeds, a packet that is too
	 * short for BPF_LD_ABS, an exception (a kfunc). */
	for (uint32_t at = 0; at < code->n; at++)
		if (!bb_insn_is_second_half(code->insns, at) && bb_insn_may_leave(&code->insns[at]))
			comes_back = false;
	/* the sums of those before each block into in[] */
	memset(in, 0, g->n_blocks * sizeof(*in));
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		uint32_t next[2];
		unsigned int n = bb_cfg__next(g, code, b, next);
		uint64_t out = 0;

		if (n == 2 && next[0] == next[1])
			n = 1;
		for (unsigned int k = 0; k < n; k++) {
			in[next[k]] += counts[b];
			out += counts[next[k]];
		}
		if (n && comes_back && out < counts[b])
			return false; /* it was left for none */
		if (!n && !g->blocks[b].func)
			exits += counts[b];
	}
	if (comes_back ? exits != runs : exits > runs)
		return false;
	in[0] += runs;
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		/* whoever calls a function is not looked for */
		bool is_called = b && g->blocks[b].first == g->funcs[g->blocks[b].func].first;

		if (!is_called && counts[b] > in[b])
			return false;
	}
	return true;
}
