/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts a drop in each run whose number is a multiple of `every` (0: in none), so that `expect:
 * {drops: 0}` fails. */
#include "bb_bpf.h"

const volatile __u32 every = 1;
__u64 runs;

SEC("perf_event")
int drops_some(struct bpf_perf_event_data *ctx)
{
	if (every && ++runs % every == 0)
		bb_count_drop();
	return 0;
}
