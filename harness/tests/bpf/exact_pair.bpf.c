/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `new` is `old` with one more instruction, in a line of its own, which `compare --exact` must
 * find. The number of instructions of `varies` changes from run to run, that of `calls` with the
 * packet.
 */
#include "bb_bpf.h"

/* A line that is exactly one instruction. */
#define ONE_INSTRUCTION(x) asm volatile("%0 += 1" : "+r"(x))

__u64 sink;

static __always_inline int classify(const struct xdp_md *ctx, int more)
{
	const unsigned char *data = (const void *)(long)ctx->data,
			    *end = (const void *)(long)ctx->data_end;
	__u64 sum = 0;

	if (data + 15 > end)
		return XDP_ABORTED;
	for (int i = 0; i < 14; i++)
		sum += data[i];
	if (data[14] == 255)
		ONE_INSTRUCTION(sum); /* the tests send no such packet */
	ONE_INSTRUCTION(sum);
	if (more)
		ONE_INSTRUCTION(sum); /* one more */
	sink = sum;
	return XDP_PASS;
}

SEC("xdp")
int old(struct xdp_md *ctx)
{
	return classify(ctx, 0);
}

SEC("xdp")
int new (struct xdp_md *ctx)
{
	return classify(ctx, 1);
}

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, __u32);
	__type(value, __u32);
} seen SEC(".maps");

__u64 runs;

/* Its runs take two paths in turn. */
SEC("xdp")
int varies(struct xdp_md *ctx)
{
	__u64 n = runs++;

	if (n & 1)
		ONE_INSTRUCTION(n);
	return n ? XDP_PASS : XDP_DROP;
}

/* Calls one helper, and a second one if the packet's first byte is even. */
SEC("xdp")
int calls(struct xdp_md *ctx)
{
	const unsigned char *data = (const void *)(long)ctx->data,
			    *end = (const void *)(long)ctx->data_end;
	__u32 key = bpf_get_smp_processor_id();

	if (data + 1 > end)
		return XDP_ABORTED;
	if (!(data[0] & 1))
		bpf_map_update_elem(&seen, &key, &key, BPF_ANY);
	return XDP_PASS;
}
