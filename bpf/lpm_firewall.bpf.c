/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A firewall by IPv4 source address. A packet passes if its address has an allowed prefix.
 * Otherwise it is dropped if its address has a denied prefix. Otherwise the default rule applies.
 * The prefixes are in two LPM tries. scenarios/lpm_firewall.yml fills `denied` with up to a million
 * prefixes, like a public block list.
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

/* The action for packets whose address has no prefix in `allowed` or `denied`. */
const volatile __u32 by_default = XDP_PASS;

/* Returns 1 and the packet's source address; 0 if the packet has no IPv4 header. */
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

/* The firewall without lookups. Costs only reading the header. */
SEC("xdp")
int parse_only(struct xdp_md *ctx)
{
	struct prefix source;

	return source_of(ctx, &source) && source.address ? by_default : XDP_PASS;
}

/* The firewall without allowed prefixes. Costs one lookup in the large trie for each packet. */
SEC("xdp")
int deny(struct xdp_md *ctx)
{
	struct prefix source;

	if (!source_of(ctx, &source))
		return XDP_PASS;
	return bpf_map_lookup_elem(&denied, &source) ? XDP_DROP : by_default;
}

/* The whole firewall. Costs a lookup in each trie; packets of allowed prefixes need only one. */
SEC("xdp")
int allow_deny(struct xdp_md *ctx)
{
	struct prefix source;

	if (!source_of(ctx, &source) || bpf_map_lookup_elem(&allowed, &source))
		return XDP_PASS;
	return bpf_map_lookup_elem(&denied, &source) ? XDP_DROP : by_default;
}
