/* SPDX-License-Identifier: GPL-2.0-only */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u64);
} packets SEC(".maps");

/* Counts packets by source address. */
SEC("xdp")
int my_prog(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = data + sizeof(*eth);
	__u64 *n, one = 1;
	__u32 key;

	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	key = ip->saddr;
	n = bpf_map_lookup_elem(&packets, &key);
	/* more */
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&packets, &key, &one, BPF_ANY);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
