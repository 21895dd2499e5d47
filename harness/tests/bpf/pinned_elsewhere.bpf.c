/* SPDX-License-Identifier: GPL-2.0-only */
/* A map with the pinning of iproute2 (PIN_GLOBAL_NS): libbpf refuses to open the object. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
	__uint(pinning, 2);
} counts SEC(".maps");

SEC("tc")
int looks_up(struct __sk_buff *skb)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero) ? 0 : -1;
}
