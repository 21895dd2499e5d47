/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that leave early with the default input, empty maps and the globals of the object. */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include "bb_bpf.h"

#define ROUNDS 20
#define MAGIC 0x1badcafe

const volatile _Bool enabled = 0;

struct inner {
	__u16 port;
	_Bool deep;
};

static const volatile struct {
	__u32 level;
	struct inner inner;
} config = {.level = 3};

struct service {
	__u32 state;
	__u32 backend;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u64);
	__type(value, struct service);
} services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} next_programs SEC(".maps");

static __always_inline __u64 hashes(__u64 value)
{
	volatile __u64 hash = 1;

	for (int i = 0; i < ROUNDS; i++)
		hash = hash * 31 + (value >> (i & 7));
	return hash;
}

/* Looks up a key that is made of fields of the packet; the value must have state 7. */
SEC("xdp")
int behind_lookup(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	struct service *service;
	__u64 key;

	if ((void *)(ip + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	key = (__u64)ip->daddr << 16 | ip->protocol;
	service = bpf_map_lookup_elem(&services, &key);
	if (!service)
		return XDP_PASS;
	if (service->state != 7)
		return XDP_DROP;
	return (hashes(service->backend) ^ hashes(key)) & 1 ? XDP_TX : XDP_DROP;
}

SEC("xdp")
int behind_switch(struct xdp_md *ctx)
{
	if (!enabled)
		return XDP_PASS;
	return hashes(ctx->data_end - ctx->data) & 1 ? XDP_TX : XDP_DROP;
}

/* A global that must have one value of many, and a switch that another program would set. */
const volatile __u32 mode = 1;
static volatile __u8 sampled;

SEC("xdp")
int behind_state(struct xdp_md *ctx)
{
	if (mode != 4711 || !sampled)
		return XDP_PASS;
	return hashes(ctx->data_end - ctx->data) & 1 ? XDP_TX : XDP_DROP;
}

/* Needs a member of a global struct, and a TCP packet over IPv6. */
SEC("xdp")
int behind_member(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	__u8 *ip = (void *)(eth + 1);

	if (!config.inner.deep || (void *)(ip + 40) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (eth->h_proto != __builtin_bswap16(ETH_P_IPV6) || ip[0] >> 4 != 6 ||
	    ip[6] != IPPROTO_TCP)
		return XDP_PASS;
	return hashes(ip[7] + config.level) & 1 ? XDP_TX : XDP_DROP;
}

/* Needs a long packet to UDP port 5353 with a magic number in it. */
SEC("xdp")
int behind_fields(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	struct udphdr *udp = (void *)(ip + 1);
	__u32 *magic = (void *)(udp + 1);

	if ((void *)(magic + 20) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (eth->h_proto != __builtin_bswap16(ETH_P_IP) || ip->ihl != 5)
		return XDP_PASS;
	if (udp->dest != __builtin_bswap16(5353))
		return XDP_PASS;
	if (*magic != __builtin_bswap32(MAGIC))
		return XDP_PASS;
	return hashes(ip->saddr) & 1 ? XDP_TX : XDP_DROP;
}

SEC("tc")
int behind_tail_call(struct __sk_buff *skb)
{
	bpf_tail_call(skb, &next_programs, 2);
	return 0;
}

SEC("tc")
int called(struct __sk_buff *skb)
{
	return hashes(skb->len) & 1;
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u64);
	__type(value, __u32);
} threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16);
	__type(key, __u32);
	__type(value, __u32);
} processes SEC(".maps");

/* The keys are the ids of the process that makes the call, which is another one in each load. */
SEC("tp/syscalls/sys_enter_getppid")
int behind_process(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 pid = id >> 32;

	if (!bpf_map_lookup_elem(&processes, &pid))
		return 0;
	return bpf_map_lookup_elem(&threads, &id) ? hashes(4711) & 1 : 0;
}

/* No input gets to the end: no packet's length has the hash 1. */
SEC("xdp")
int behind_nothing(struct xdp_md *ctx)
{
	__u64 len = ctx->data_end - ctx->data;

	if (hashes(len) != 1)
		return XDP_PASS;
	return hashes(len + 1) + hashes(len + 2) + hashes(len + 3) + hashes(len + 4) > 7 ? XDP_TX
											 : XDP_DROP;
}
