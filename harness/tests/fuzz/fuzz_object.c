/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A BPF object file, as libbpf opens it: first in a child, then here. */
#include "fuzz/fuzz.h"

#include "bpf/object_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_object_info info;
	struct bb_err err = {0};

	if (bb_object_info__read(fuzz_file(data, size), &info, &err))
		return 0;
	for (size_t i = 0; i < info.n_programs; i++)
		fuzz_touch(info.programs[i].name, strlen(info.programs[i].name));
	bb_object_info__done(&info);
	return 0;
}
