// SPDX-License-Identifier: GPL-2.0-only
/* Sections with names of other loaders and of libbpf before 1.0, which tell libbpf 1.0 no type. */
#include "bb_bpf.h"

SEC("classifier/ingress") int as_tc(struct __sk_buff *skb)
{
	return skb->len > 10000;
}

SEC("xdp_pass") int as_xdp(struct xdp_md *ctx)
{
	return ctx->data == ctx->data_end ? XDP_ABORTED : XDP_PASS;
}

SEC("filter") int as_socket(struct __sk_buff *skb)
{
	return (int)skb->len;
}

SEC("sockops/read") int as_sockops(struct bpf_sock_ops *ctx)
{
	return ctx->op != 0;
}

SEC("mystery") int unknown(struct xdp_md *ctx)
{
	return ctx->data == ctx->data_end ? XDP_ABORTED : XDP_PASS;
}
