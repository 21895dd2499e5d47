/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols that a JIT compiler writes to /tmp/perf-PID.map. */
#include "fuzz/fuzz_symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_symtab(data, size, bb_symtab__add_perf_map);
	return 0;
}
