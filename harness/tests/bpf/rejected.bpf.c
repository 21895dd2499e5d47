/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program that every verifier rejects: it uses what a lookup returned without asking whether that
 * was NULL. (Of a hash: for a constant key of an array, newer verifiers know that there is a
 * value.)
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

/* And one beside it that is fine: only the program that a variant names is loaded. */
SEC("perf_event")
int accepted(struct bpf_perf_event_data *ctx)
{
	return 0;
}
