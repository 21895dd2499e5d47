/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet capture (pcap). */
#include "fuzz/fuzz.h"

#include "plan/field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bb_bytes_list list = {0};
	struct bb_arena arena = {0};
	struct bb_err err = {0};

	bb_pcap__read(fuzz_file(data, size), BB_INPUTS_MAX, &arena, &list, &err);
	for (size_t i = 0; i < list.n; i++)
		fuzz_touch(list.v[i].data, list.v[i].len);
	free(list.v);
	bb_arena__done(&arena);
	return 0;
}
