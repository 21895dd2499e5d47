/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs for mixes of packets: what they return and cost depends on the packet. */
#include "bb_bpf.h"
#include <bpf/bpf_endian.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} last SEC(".maps");

static __always_inline __u32 source_of(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct iphdr *ip = data + sizeof(*eth);

	if ((void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP))
		return 0;
	return bpf_ntohl(ip->saddr);
}

SEC("xdp")
int mix_empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* Passes packets of flows that it has seen, and sends those of new flows back. It drops packets
 * that are not IPv4, which takes long. */
SEC("xdp")
int mix_by_flow(struct xdp_md *ctx)
{
	__u32 source = source_of(ctx);
	__u64 one = 1, *seen;

	if (!source) {
		for (int i = 0; i < 400; i++)
			asm volatile("%0 += 1" : "+r"(one));
		return XDP_DROP;
	}
	seen = bpf_map_lookup_elem(&flows, &source);
	if (seen) {
		*seen += 1;
		return XDP_PASS;
	}
	bpf_map_update_elem(&flows, &source, &one, BPF_ANY);
	return XDP_TX;
}

/* Passes a packet whose source address follows that of the packet before it; drops others. */
SEC("xdp")
int mix_in_order(struct xdp_md *ctx)
{
	__u32 zero = 0, source = source_of(ctx), *before = bpf_map_lookup_elem(&last, &zero);
	int in_order = before && source == *before + 1;

	if (before)
		*before = source;
	return in_order ? XDP_PASS : XDP_DROP;
}

/* One program for each end of a packet: it is dropped, passed, sent back or redirected. */
SEC("xdp")
int live_drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("xdp")
int live_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int live_tx(struct xdp_md *ctx)
{
	return XDP_TX;
}

SEC("xdp")
int live_redirect(struct xdp_md *ctx)
{
	return bpf_redirect(ctx->ingress_ifindex, 0);
}

SEC("xdp")
int live_redirect_nowhere(struct xdp_md *ctx)
{
	return bpf_redirect(12345, 0);
}
