/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A timer runs `interrupts`, also in the midst of a run of `interrupted` on the same CPU. Each
 * program counts its runs by their path: `interrupted` at its end, in FAST or SLOW; `interrupts` in
 * NESTED if it came in the midst of the other, and in BETWEEN if not.
 */
#include "bb_bpf.h"

enum { FAST, SLOW, BETWEEN, NESTED, CALLS, N_COUNTS };

__u64 counts[N_COUNTS];

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} is_inside SEC(".maps");

SEC("raw_tp/sys_enter")
int interrupted(void *ctx)
{
	volatile __u64 sum = 0;
	__u32 zero = 0;
	__u64 *inside = bpf_map_lookup_elem(&is_inside, &zero);

	if (!inside)
		return 0;
	*(volatile __u64 *)inside = 1;
	if (__sync_fetch_and_add(&counts[CALLS], 1) % 10) {
		for (int i = 0; i < 4000; i++)
			sum = sum + i;
		*(volatile __u64 *)inside = 0;
		__sync_fetch_and_add(&counts[FAST], 1);
		return 1;
	}
	for (int i = 0; i < 32000; i++)
		sum = sum + i;
	*(volatile __u64 *)inside = 0;
	__sync_fetch_and_add(&counts[SLOW], 1);
	return 2;
}

SEC("perf_event")
int interrupts(void *ctx)
{
	__u32 zero = 0;
	__u64 *inside = bpf_map_lookup_elem(&is_inside, &zero);

	if (inside && *(volatile __u64 *)inside) {
		__sync_fetch_and_add(&counts[NESTED], 1);
		return 1;
	}
	__sync_fetch_and_add(&counts[BETWEEN], 1);
	return 2;
}
