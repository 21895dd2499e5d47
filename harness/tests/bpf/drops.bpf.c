/* SPDX-License-Identifier: GPL-2.0-only */
/* Throws away the result of every run, or of every n-th: what `expect: {drops: 0}` is there to
 * catch. */
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
