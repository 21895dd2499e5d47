/* SPDX-License-Identifier: GPL-2.0-only */
/* An object without a licence: one program needs none, the other calls a helper for GPL programs
 * only. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

SEC("xdp")
int free_for_all(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int prints(struct xdp_md *ctx)
{
	bpf_printk("seen");
	return XDP_PASS;
}
