/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a JIT writes of its functions (/tmp/perf-PID.map). */
#include "fuzz/fuzz.h"

#include "profile/symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct bb_symtab t = {0};

	if (bb_symtab__add_perf_map(&t, text))
		abort();
	bb_symtab__sort(&t);
	for (size_t i = 0; i < t.n; i++) {
		const struct bb_symbol *s = bb_symtab__find(&t, t.symbols[i].start);

		if (!s || (i && t.symbols[i].start <= t.symbols[i - 1].start))
			abort();
		fuzz_touch(bb_symtab__name(&t, s), strlen(bb_symtab__name(&t, s)));
	}
	bb_symtab__done(&t);
	free(text);
	return 0;
}
