/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program with known paths: each 50th run takes ten times as many rounds and returns XDP_DROP;
 * the others return XDP_PASS. Run by tools/live_prog, which reads live_runs.
 */
#include "live_runs.h"

#define ROUNDS 200

SEC("xdp")
int inside_paths(struct xdp_md *ctx)
{
	__u64 *runs = find_live_runs();
	volatile __u64 sum = 0;

	if (!runs)
		return XDP_ABORTED;
	__sync_fetch_and_add(runs, 1);
	if (*runs % 50 == 0) {
		for (int i = 0; i < 10 * ROUNDS; i++)
			sum = sum + i;
		return XDP_DROP;
	}
	for (int i = 0; i < ROUNDS; i++)
		sum = sum + i;
	return XDP_PASS;
}
