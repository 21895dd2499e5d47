/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "exact/counts.h"

uint64_t bb_counts__instructions(const struct bb_cfg *g, const uint64_t *counts)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		sum += counts[b] * g->blocks[b].n_insns;
	return sum;
}

uint64_t bb_counts__path(const struct bb_cfg *g, const uint64_t *counts)
{
	uint64_t hash = 14695981039346656037U;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		for (unsigned int shift = 0; shift < 64; shift += 8)
			hash = (hash ^ (counts[b] >> shift & 0xff)) * 1099511628211U;
	return hash;
}
