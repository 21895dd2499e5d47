/* SPDX-License-Identifier: GPL-2.0-only */
/* A static program: cilium/ebpf and aya take it, libbpf refuses to open the object. */
#include "bb_bpf.h"

SEC("xdp")
static __attribute__((used)) int passes(struct xdp_md *ctx)
{
	return XDP_PASS;
}
