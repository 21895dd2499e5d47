/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of the types that have a test run. From what most of them return or write, a test can
 * see on which packet or context they ran.
 */
#include "bb_bpf.h"

/* --- packets --- */

SEC("xdp")
int xdp_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* The last byte of a 15-byte packet is the return value. */
SEC("xdp")
int xdp_says(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	return data + 15 <= end ? data[14] : XDP_ABORTED;
}

/* Adds one to the last byte of a 15-byte packet, and two if the same packet is used twice. */
SEC("xdp")
int xdp_writes(struct xdp_md *ctx)
{
	unsigned char *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;

	if (data + 15 > end)
		return XDP_ABORTED;
	data[14]++;
	return XDP_TX;
}

SEC("tc")
int tc_shot(struct __sk_buff *skb)
{
	return 2; /* TC_ACT_SHOT */
}

SEC("action")
int act_unspec(struct __sk_buff *skb)
{
	return -1;
}

SEC("socket")
int socket_len(struct __sk_buff *skb)
{
	return skb->len;
}

SEC("cgroup_skb/ingress")
int cgroup_pass(struct __sk_buff *skb)
{
	return 1;
}

SEC("lwt_in")
int lwt_in_ok(struct __sk_buff *skb)
{
	return 0;
}

SEC("lwt_out")
int lwt_out_ok(struct __sk_buff *skb)
{
	return 0;
}

SEC("lwt_xmit")
int lwt_xmit_ok(struct __sk_buff *skb)
{
	return 0;
}

SEC("flow_dissector")
int flow_ok(struct __sk_buff *skb)
{
	return 0; /* BPF_OK */
}

SEC("sk_lookup")
int lookup_pass(struct bpf_sk_lookup *ctx)
{
	return ctx->protocol == 17;
}

/* --- packets with a context --- */

SEC("tc")
int tc_mark(struct __sk_buff *skb)
{
	return skb->mark * 100 + skb->priority * 10 + skb->cb[1];
}

SEC("tc")
int tc_device(struct __sk_buff *skb)
{
	return skb->ingress_ifindex * 1000 + skb->ifindex;
}

SEC("tc")
int tc_sizes(struct __sk_buff *skb)
{
	return skb->wire_len + skb->gso_segs * 10000 + skb->gso_size +
	       (skb->tstamp == 1ULL << 63 ? 1 : 0);
}

SEC("socket")
int socket_mark(struct __sk_buff *skb)
{
	return skb->mark;
}

SEC("xdp")
int xdp_device(struct xdp_md *ctx)
{
	return ctx->ingress_ifindex * 10 + ctx->rx_queue_index;
}

/* Returns the first byte of the metadata, or 99 if there is none. */
SEC("xdp")
int xdp_metadata(struct xdp_md *ctx)
{
	unsigned char *meta = (void *)(long)ctx->data_meta, *data = (void *)(long)ctx->data;

	return meta + 1 <= data ? meta[0] : 99;
}

/* --- contexts --- */

SEC("raw_tp/sched_switch")
int raw_tp_third(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[2];
}

struct sum {
	__u32 a, b, sum;
};

/* Adds to `sum`, which grows from run to run unless each run gets a fresh context. */
SEC("syscall")
int syscall_sum(struct sum *ctx)
{
	ctx->sum += ctx->a + ctx->b;
	return ctx->sum;
}

/* --- types without a test run --- */

SEC("perf_event")
int perf_event_program(struct bpf_perf_event_data *ctx)
{
	return 0;
}

SEC("tp/sched/sched_switch")
int tracepoint_program(void *ctx)
{
	return 0;
}
