/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that leave early at a check: of the packet, of the process, or of the result of a lookup
 * in an empty map. The last one does not. */
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/tcp.h>

#include "bb_bpf.h"

#define ROUNDS 20

const volatile __u32 targ_pid = 1;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} services SEC(".maps");

static __always_inline __u64 hashes(__u64 value)
{
	volatile __u64 hash = 1;

	for (int i = 0; i < ROUNDS; i++)
		hash = hash * 31 + (value >> (i & 7));
	return hash;
}

SEC("xdp")
int only_tcp(struct xdp_md *ctx)
{
	struct ethhdr *eth = (void *)(long)ctx->data;
	struct iphdr *ip = (void *)(eth + 1);
	struct tcphdr *tcp = (void *)(ip + 1);

	if ((void *)(tcp + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (ip->protocol != IPPROTO_TCP)
		return XDP_PASS;
	if (hashes(ip->saddr) & 1)
		return XDP_DROP;
	return hashes(tcp->source) & 1 ? XDP_DROP : XDP_PASS;
}

/* A load balancer of one service, whose loader fills the map. */
SEC("xdp")
int only_services(struct xdp_md *ctx)
{
	__u32 key = 1;
	__u64 *service = bpf_map_lookup_elem(&services, &key);

	if (!service)
		return XDP_PASS;
	return hashes(*service) & 1 ? XDP_DROP : XDP_TX;
}

SEC("tp/syscalls/sys_enter_umask")
int only_one_pid(void *ctx)
{
	if (targ_pid && bpf_get_current_pid_tgid() >> 32 != targ_pid)
		return 0;
	return hashes(bpf_ktime_get_ns()) & 1;
}

/* Most of it is executed on every input. */
SEC("xdp")
int all_of_it(struct xdp_md *ctx)
{
	return hashes(ctx->data_end - ctx->data) & 1 ? XDP_DROP : XDP_PASS;
}
