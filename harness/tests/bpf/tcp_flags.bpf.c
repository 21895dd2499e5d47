// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that return the flags of the TCP header of an IPv4 packet. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __always_inline int flags_of(__u32 data, __u32 data_end)
{
	const unsigned char *bytes = (void *)(long)data, *end = (void *)(long)data_end;

	/* the flags' offset: 14 bytes of Ethernet, 20 of IPv4, 13 of TCP */
	return bytes + 48 <= end ? bytes[14 + 20 + 13] : 256;
}

SEC("xdp")
int xdp_flags(struct xdp_md *ctx)
{
	return flags_of(ctx->data, ctx->data_end);
}

SEC("tc")
int tc_flags(struct __sk_buff *skb)
{
	return flags_of(skb->data, skb->data_end);
}

char _license[] SEC("license") = "GPL";
