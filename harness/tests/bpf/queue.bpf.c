/* SPDX-License-Identifier: GPL-2.0-only */
/* Pushes to a queue for 16 values, and counts a drop if it is full: somebody must empty it. */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 16);
	__type(value, __u32);
} queue SEC(".maps");

SEC("xdp")
int pushes(struct xdp_md *ctx)
{
	__u32 value = 1;

	if (bpf_map_push_elem(&queue, &value, 0))
		bb_count_drop();
	return XDP_PASS;
}
