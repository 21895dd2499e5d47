/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An XDP program whose path depends on the packet alone: UDP to port 53 takes ten times as many
 * rounds as other UDP. Everything else passes at once.
 */
#include <bpf/bpf_endian.h>

#include "bb_bpf.h"

#define ROUNDS 1000

SEC("xdp")
int inside_packets(struct xdp_md *ctx)
{
	volatile __u64 sum = 0;
	__u8 protocol = 0;
	__u16 type = 0, port = 0;

	bpf_xdp_load_bytes(ctx, 12, &type, sizeof(type));
	bpf_xdp_load_bytes(ctx, 23, &protocol, sizeof(protocol));
	bpf_xdp_load_bytes(ctx, 36, &port, sizeof(port));
	if (type != bpf_htons(0x0800) || protocol != 17)
		return XDP_PASS;
	if (port == bpf_htons(53)) {
		for (int i = 0; i < 10 * ROUNDS; i++)
			sum = sum + i;
		return XDP_PASS;
	}
	for (int i = 0; i < ROUNDS; i++)
		sum = sum + i;
	return XDP_PASS;
}
