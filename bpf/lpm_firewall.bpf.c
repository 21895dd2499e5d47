/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A firewall by IPv4 source address. A packet whose address is on the list of allowed prefixes
 * passes; else one on the list of denied prefixes is dropped; else the default rule applies. Both
 * lists are LPM tries. scenarios/lpm_firewall.yml fills the denied one with up to a million
 * prefixes, as from a public block list.
 */
#include "bb_bpf.h"
#include <bpf/bpf_endian.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

struct prefix {
	__u32 bits;
	__be32 address;
};

#define PREFIXES(map, entries)                                                                     \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_LPM_TRIE);                                               \
		__uint(max_entries, entries);                                                      \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, struct prefix);                                                        \
		__type(value, __u32);                                                              \
	} map SEC(".maps")

PREFIXES(allowed, 1024);
PREFIXES(denied, 1000000);

/* The default rule. */
const volatile __u32 by_default = XDP_PASS;

/* Returns whether the packet has an IPv4 header, and its source address. */
static __always_inline int source_of(const struct xdp_md *ctx, struct prefix *ret_source)
{
	const void *data = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *eth = data;
	const struct iphdr *ip = (const void *)(eth + 1);

	if ((const void *)(ip + 1) > end || eth->h_proto != bpf_htons(ETH_P_IP))
		return 0;
	ret_source->bits = 32;
	ret_source->address = ip->saddr;
	return 1;
}

/* The floor: the kernel's cost of calling any XDP program. */
SEC("xdp")
int empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* The firewall without its tables: what reading the header costs. */
SEC("xdp")
int parse_only(struct xdp_md *ctx)
{
	struct prefix source;

	return source_of(ctx, &source) && source.address ? by_default : XDP_PASS;
}

/* Only the denied prefixes: one lookup for each packet. */
SEC("xdp")
int deny(struct xdp_md *ctx)
{
	struct prefix source;

	if (!source_of(ctx, &source))
		return XDP_PASS;
	return bpf_map_lookup_elem(&denied, &source) ? XDP_DROP : by_default;
}

/* The whole firewall: packets from allowed prefixes never come to the large table. */
SEC("xdp")
int allow_deny(struct xdp_md *ctx)
{
	struct prefix source;

	if (!source_of(ctx, &source) || bpf_map_lookup_elem(&allowed, &source))
		return XDP_PASS;
	return bpf_map_lookup_elem(&denied, &source) ? XDP_DROP : by_default;
}
