/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose lookups and tail calls find nothing unless a loader or a scenario fills the map,
 * and programs whose lookups succeed without that. */
#include <linux/if_ether.h>
#include <linux/ip.h>

#include "bb_bpf.h"

#define ROUNDS 20

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, 8); /* prefix length and IPv4 address */
	__type(value, __u64);
} blocked_prefixes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u32);
} jump_table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counters SEC(".maps");

struct inner {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} one_inner SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, __u32);
	__array(values, struct inner);
} outer SEC(".maps") = {
	.values = {[0] = (void *)&one_inner},
};

/* A firewall whose loader fills in the prefixes. If it finds the source address, it hashes the
 * destination address. */
SEC("xdp")
int firewall(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	struct {
		__u32 len, addr;
	} key = {32, 0};
	volatile __u64 hash = 1;
	__u64 *hits;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	key.addr = ip->saddr;
	hits = bpf_map_lookup_elem(&blocked_prefixes, &key);
	if (!hits)
		return XDP_PASS;
	for (int i = 0; i < ROUNDS; i++)
		hash = hash * 31 + ip->daddr;
	__sync_fetch_and_add(hits, hash);
	return XDP_DROP;
}

/* Jumps to another program, which its loader puts into the prog array. */
SEC("tc")
int dispatch(struct __sk_buff *skb)
{
	if (skb->protocol == 0x1234 || skb->len < 14)
		return 7;
	bpf_tail_call(skb, &jump_table, 3);
	return 7;
}

SEC("tc")
int handler(struct __sk_buff *skb)
{
	volatile __u64 sum = 0;

	for (int i = 0; i < ROUNDS; i++)
		sum += skb->len;
	return sum ? 1 : 2;
}

/* Two lookups in a map that a scenario may fill. */
SEC("tc")
int looks_up(struct __sk_buff *skb)
{
	__u32 a = 1, b = 2;
	__u64 *x = bpf_map_lookup_elem(&flows, &a), *y = bpf_map_lookup_elem(&flows, &b);

	return (x ? (int)*x : 0) + (y ? (int)*y : 0);
}

/* The first run stores what all later ones find. */
SEC("tc")
int first_seen(struct __sk_buff *skb)
{
	__u32 key = 3;
	__u64 one = 1, *x = bpf_map_lookup_elem(&flows, &key);

	if (x)
		return (int)(*x)++;
	bpf_map_update_elem(&flows, &key, &one, BPF_ANY);
	return 0;
}

SEC("tc")
int counts_in_array(struct __sk_buff *skb)
{
	__u32 key = 3;
	__u64 *x = bpf_map_lookup_elem(&counters, &key);

	if (x)
		__sync_fetch_and_add(x, 1);
	return 0;
}

/* The outer map has a map in slot 0, which is empty. */
SEC("tc")
int looks_inside(struct __sk_buff *skb)
{
	__u32 key = 0;
	void *inner = bpf_map_lookup_elem(&outer, &key);
	__u64 *x = inner ? bpf_map_lookup_elem(inner, &key) : 0;

	return x ? (int)*x : 0;
}
