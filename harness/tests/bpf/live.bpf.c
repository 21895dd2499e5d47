/* SPDX-License-Identifier: GPL-2.0-only */
/* For harness/tests/tools/live_prog.c: a program that somebody else has loaded. It leaves a mark of
 * every run. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} live_runs SEC(".maps");

/* Longer than the 15 bytes of a name that the kernel keeps. */
SEC("tc")
int live_counts_its_runs(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *runs = bpf_map_lookup_elem(&live_runs, &zero);

	if (runs)
		__sync_fetch_and_add(runs, 1);
	return 0;
}
