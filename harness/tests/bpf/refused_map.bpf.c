/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused by libbpf or the kernel: an array without entries. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 0);
	__type(key, __u32);
	__type(value, __u64);
} no_entries SEC(".maps");

SEC("tc")
int looks_up(struct __sk_buff *skb)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&no_entries, &key) != 0;
}
