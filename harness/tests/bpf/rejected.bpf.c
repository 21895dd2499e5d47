/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that every verifier rejects: it uses the result of a lookup without asking whether it
 * is NULL. (The map is a hash: newer verifiers know that an array has a value for a constant key.)
 */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

SEC("perf_event")
int rejected(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	__u64 *count = bpf_map_lookup_elem(&counts, &zero);

	*count += 1;
	return 0;
}

/* A good program beside it. It can be measured: only programs that a variant names are loaded. */
SEC("perf_event")
int accepted(struct bpf_perf_event_data *ctx)
{
	return 0;
}
