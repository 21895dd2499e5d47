/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbols of the kernel (/proc/kallsyms). */
#include "fuzz/fuzz_symtab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_symtab(data, size, bb_symtab__add_kallsyms);
	return 0;
}
