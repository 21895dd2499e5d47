/* SPDX-License-Identifier: GPL-2.0-only */
/* Returns at once if its first argument is zero, as it is in a test run on a context of zeros. At
 * the event itself, that argument is the address of the caller's registers. */
#include "bb_bpf.h"

SEC("raw_tp/sys_enter")
int returns_early(struct bpf_raw_tracepoint_args *ctx)
{
	volatile __u64 sum = 0;
	__u64 x = ctx->args[0];

	if (!x)
		return 0;
#pragma unroll
	for (int i = 1; i <= 20; i++)
		sum += x * i;
	return sum > 100;
}
