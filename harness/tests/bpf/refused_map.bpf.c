/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused by libbpf or the kernel: an array whose keys are too wide. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u64);
	__type(value, __u64);
} wide_keys SEC(".maps");

SEC("tc")
int looks_up(struct __sk_buff *skb)
{
	__u64 key = 0;

	return bpf_map_lookup_elem(&wide_keys, &key) != 0;
}
