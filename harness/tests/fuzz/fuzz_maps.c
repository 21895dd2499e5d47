/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a process (/proc/PID/maps), in which any user may have chosen the paths. */
#include "fuzz/fuzz.h"

#include "profile/spaces.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	struct bb_spaces s = {0};

	bb_spaces__log_maps(&s, 0, 1, text);
	bb_spaces__replay(&s);
	for (size_t i = 0; i < s.dsos.n; i++)
		fuzz_touch(bb_dso__short_name(&s.dsos.v[i]),
			   strlen(bb_dso__short_name(&s.dsos.v[i])));
	for (uint64_t address = 0; address < UINT64_MAX / 2; address = address * 2 + 1)
		bb_spaces__find(&s, bb_spaces__of(&s, 0, ""), address);
	bb_spaces__done(&s);
	free(text);
	return 0;
}
