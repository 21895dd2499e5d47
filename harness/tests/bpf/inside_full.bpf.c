/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose stack has no room for any instrument. Run by tools/live_prog, which reads
 * live_runs.
 */
#include "live_runs.h"

#define FULL 500

SEC("xdp")
int inside_full(struct xdp_md *ctx)
{
	__u64 *runs = find_live_runs();
	__u8 full[FULL];

	if (!runs)
		return XDP_ABORTED;
	asm volatile("" : : "r"(full) : "memory"); /* else the compiler keeps one byte only */
	full[0] = (__u8)__sync_fetch_and_add(runs, 1);
	return full[0] ? XDP_PASS : XDP_DROP;
}
