/* SPDX-License-Identifier: GPL-2.0-only */
/* The profiler's object, whose program `sample` is replaced by one that every verifier rejects. */
#define sample sample_that_loads
#include "profile.bpf.c"
#undef sample

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&counts, &zero);

	return (int)*count;
}
