/* SPDX-License-Identifier: GPL-2.0-only */
/* A map in the form that libbpf took before version 1.0. */
#include "bb_bpf.h"

struct {
	__u32 type, key_size, value_size, max_entries, map_flags;
} counts SEC("maps") = {BPF_MAP_TYPE_ARRAY, sizeof(__u32), sizeof(__u64), 1, 0};

SEC("xdp")
int counts_legacy(struct xdp_md *ctx)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&counts, &key) ? XDP_PASS : XDP_DROP;
}
