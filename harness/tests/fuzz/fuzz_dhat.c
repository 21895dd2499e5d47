/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of valgrind --tool=dhat (JSON). */
#include "fuzz/fuzz.h"

#include "profile/dhat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_dhat dhat;
	struct bb_err err = {0};

	if (!bb_dhat__read(fuzz_file(data, size), &dhat, &err))
		fuzz_touch(&dhat, sizeof(dhat));
	return 0;
}
