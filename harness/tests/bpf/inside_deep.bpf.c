/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with 64 paths, which its runs take in turn. Its stack has no room for a byte for each
 * branch. Run by tools/live_prog, which reads live_runs.
 */
#include "live_runs.h"

#define BRANCHES 64
#define DEEP 432

SEC("xdp")
int inside_deep(struct xdp_md *ctx)
{
	__u64 *runs = find_live_runs(), n;
	volatile __u8 deep[DEEP];

	if (!runs)
		return XDP_ABORTED;
	n = __sync_fetch_and_add(runs, 1);
	deep[0] = 0;
#pragma unroll
	for (int i = 0; i < BRANCHES; i++)
		if (n >> i % 6 & 1)
			deep[i] = 1;
	return XDP_PASS;
}
