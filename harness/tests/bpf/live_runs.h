/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "bb_bpf.h"

/* How often the program ran. tools/live_prog reads it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} live_runs SEC(".maps");

static __always_inline __u64 *find_live_runs(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&live_runs, &zero);
}
