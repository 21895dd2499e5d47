/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads folded stacks and draws their flame graph. */
#include "fuzz/fuzz.h"

#include "profile/stacks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct bb_flame_opts opts = {.title = "fuzz", .unit = "samples"};
	struct bb_stacks stacks = {0};
	struct bb_err err = {0};
	char *text = NULL;
	size_t len;
	FILE *out;

	if (bb_folded__read(fuzz_file(data, size), &stacks, &err))
		return 0;
	out = bb_open_memstream(&text, &len);
	bb_flame__write(&stacks, &opts, out);
	bb_close_memstream(out);
	free(text);
	bb_stacks__done(&stacks);
	return 0;
}
