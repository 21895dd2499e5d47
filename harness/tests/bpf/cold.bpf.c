/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that read one word of each cache line of 64 KiB: their time depends mostly on which
 * cache holds those lines. */
#include "bb_bpf.h"

#define N_LINES 1024

struct lines {
	__u64 word[N_LINES][8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lines);
} memory SEC(".maps");

static __always_inline int walk(void)
{
	__u32 key = 0;
	struct lines *lines = bpf_map_lookup_elem(&memory, &key);
	__u64 sum = 0;

	if (!lines)
		return 0;
	for (int i = 0; i < N_LINES; i++)
		sum += lines->word[i][0];
	return sum != 0;
}

SEC("perf_event")
int walk_on_event(struct bpf_perf_event_data *ctx)
{
	return walk();
}

SEC("socket")
int walk_on_packet(struct __sk_buff *skb)
{
	return walk();
}
