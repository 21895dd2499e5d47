/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fuzz/fuzz.h"

#include "profile/symtab.h"

/* Lets `add` read symbols from text into a table, and sorts it. No two symbols may have the same
 * address, and each must be found by its address. */
static inline void fuzz_symtab(const uint8_t *data, size_t size,
			       void (*add)(struct bb_symtab *t, const char *text))
{
	char *text = fuzz_text(data, size);
	struct bb_symtab t = {0};

	add(&t, text);
	bb_symtab__sort(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct bb_symbol *s = bb_symtab__find(&t, t.symbols[i].start);

		if (!s || (i && t.symbols[i].start <= t.symbols[i - 1].start))
			abort();
		fuzz_touch(bb_symtab__name(&t, s), strlen(bb_symtab__name(&t, s)));
	}
	bb_symtab__done(&t);
	free(text);
}
