/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts its runs by the depth of the user stack: frames[n] runs saw a stack of n frames. */
#include "bb_bpf.h"

#define MAX_FRAMES 127 /* kernel.perf_event_max_stack */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MAX_FRAMES + 1);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

struct stack {
	__u64 address[MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack);
} scratch SEC(".maps");

SEC("perf_event")
int depth(struct bpf_perf_event_data *ctx)
{
	__u32 key = 0;
	struct stack *stack = bpf_map_lookup_elem(&scratch, &key);
	__u64 *count;
	long len;

	if (!stack)
		return 0;
	len = bpf_get_stack(ctx, stack->address, sizeof(stack->address), BPF_F_USER_STACK);
	key = len < 0 ? 0 : len / sizeof(__u64);
	count = bpf_map_lookup_elem(&frames, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	return 0;
}
