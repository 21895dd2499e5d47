/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fun_xdp applies FizzBuzz and Fibonacci to the source address of every IPv4 packet and pushes the
 * result to a queue that user space pops. There are five versions, as in the program's history: v3
 * is slow for some addresses, and v4 repairs that.
 */
#include "bb_bpf.h"
#include <bpf/bpf_endian.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include "fun_xdp.h"

#define LOG_BYTES (256 << 10)

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, BB_SOURCE_ADDR_QUEUE_ENTRIES);
	__type(value, enum bb_source_addr);
} SOURCE_ADDR_QUEUE SEC(".maps");

/* The source addresses of the packets, for v0. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LOG_BYTES);
} addr_log SEC(".maps");

enum { NO_ADDR = -1 }; /* not a value of enum xdp_action */

/* Returns NO_ADDR and the source address of an IPv4 packet; otherwise the action for the packet. */
static __always_inline int parse(const struct xdp_md *ctx, __u32 *ret_addr)
{
	const void *data = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	const struct ethhdr *eth = data;
	const struct iphdr *ip = (const void *)(eth + 1);

	if ((const void *)(eth + 1) > end)
		return XDP_ABORTED;
	if (eth->h_proto != bpf_htons(ETH_P_IP))
		return XDP_PASS;
	if ((const void *)(ip + 1) > end)
		return XDP_ABORTED;
	/* fun_xdp.h wants this byte order; on little-endian machines nothing changes */
	*ret_addr = __le32_to_cpu(ip->saddr);
	return NO_ADDR;
}

static __always_inline int push(int answer)
{
	enum bb_source_addr value = answer;

	if (answer != BB_NO_PUSH && bpf_map_push_elem(&SOURCE_ADDR_QUEUE, &value, BPF_ANY))
		bb_count_drop();
	return XDP_PASS;
}

/* The floor: the kernel's cost of calling any XDP program. */
SEC("xdp")
int empty(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* v0: parses the packet and logs its source address in a ring buffer record of 4 bytes. */
SEC("xdp")
int v0(struct xdp_md *ctx)
{
	__u32 addr;
	int action = parse(ctx, &addr);

	if (action != NO_ADDR)
		return action;
	if (bpf_ringbuf_output(&addr_log, &addr, sizeof(addr), 0))
		bb_count_drop();
	return XDP_PASS;
}

/* v1: Fizz, without the log. Costs one division, and for every third address a push (a lock and a
 * copy). */
SEC("xdp")
int v1(struct xdp_md *ctx)
{
	__u32 addr;
	int action = parse(ctx, &addr);

	return action == NO_ADDR ? push(bb_fizz(addr)) : action;
}

/* v2: FizzBuzz. Costs two divisions, and for 7 of 15 addresses a push. */
SEC("xdp")
int v2(struct xdp_md *ctx)
{
	__u32 addr;
	int action = parse(ctx, &addr);

	return action == NO_ADDR ? push(bb_fizz_buzz(addr)) : action;
}

/* v3: Fibonacci first, then FizzBuzz. Costs a loop of up to 381 rounds. */
SEC("xdp")
int v3(struct xdp_md *ctx)
{
	__u32 addr;
	int action = parse(ctx, &addr);

	if (action != NO_ADDR)
		return action;
	return push(bb_is_fibonacci_by_loop((__u8)addr, NULL) ? BB_FIBONACCI : bb_fizz_buzz(addr));
}

/* v4: the same as v3, with a table in place of the loop. Costs a few comparisons. */
SEC("xdp")
int v4(struct xdp_md *ctx)
{
	__u32 addr;
	int action = parse(ctx, &addr);

	if (action != NO_ADDR)
		return action;
	return push(bb_is_fibonacci_by_table((__u8)addr) ? BB_FIBONACCI : bb_fizz_buzz(addr));
}
