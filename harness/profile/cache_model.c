/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/cache_model.h"

#define LINE_BYTES 64u
#define L1_WAYS 8u
#define LL_WAYS 16u
#define SETS(bytes, ways) ((bytes) / LINE_BYTES / (ways))
#define CYCLES_LL 5u
#define CYCLES_RAM 35u

struct bb_cache_model {
	/* The cache lines of each set, the most recently used first. A line's number is its address
	 * / LINE_BYTES + 1, and 0 means none. */
	uint64_t code[SETS(BB_CACHE_L1_BYTES, L1_WAYS)][L1_WAYS];
	uint64_t data[SETS(BB_CACHE_L1_BYTES, L1_WAYS)][L1_WAYS];
	uint64_t last[SETS(BB_CACHE_LL_BYTES, LL_WAYS)][LL_WAYS];
};

struct bb_cache_model *bb_cache_model__new(void)
{
	return bb_calloc(1, sizeof(struct bb_cache_model));
}

void bb_cache_model__free(struct bb_cache_model *m)
{
	free(m);
}

/* Moves the line to the front of the set way[n_ways]. Returns true if the set had it. Otherwise
 * drops the least recently used line. */
static bool use(uint64_t *way, size_t n_ways, uint64_t line)
{
	size_t at = 0;

	while (at < n_ways - 1 && way[at] != line)
		at++;
	bool has_it = way[at] == line;
	memmove(&way[1], &way[0], at * sizeof(*way));
	way[0] = line;
	return has_it;
}

void bb_cache_model__access(struct bb_cache_model *m, uint64_t address, uint32_t size_bytes,
			    bool is_code, struct bb_cache_counts *counts)
{
	uint64_t first = address / LINE_BYTES + 1,
		 n = (address % LINE_BYTES + (size_bytes ? size_bytes - 1 : 0)) / LINE_BYTES + 1;
	enum { L1, LL, RAM } level, slowest = L1;
	uint64_t(*l1)[L1_WAYS] = is_code ? m->code : m->data;

	for (uint64_t line = first; line < first + n; line++) {
		bool in_l1 = use(l1[line % BB_LEN(m->code)], L1_WAYS, line);

		level = in_l1 ? L1 : use(m->last[line % BB_LEN(m->last)], LL_WAYS, line) ? LL : RAM;
		slowest = level > slowest ? level : slowest;
	}
	if (!counts)
		return;
	counts->l1 += slowest == L1;
	counts->ll += slowest == LL;
	counts->ram += slowest == RAM;
}

uint64_t bb_cache_counts__cycles(const struct bb_cache_counts *counts)
{
	return counts->l1 + CYCLES_LL * counts->ll + CYCLES_RAM * counts->ram;
}
