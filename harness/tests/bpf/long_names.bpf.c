/* SPDX-License-Identifier: GPL-2.0-only */
/* Names that are longer than the kernel keeps. Those of the maps differ in their 64th character. */
#include "bb_bpf.h"

#define LONG a_name_of_sixty_two_characters_so_that_one_or_two_more_follow_
#define PASTE(a, b) a##b
#define NAME(a, b) PASTE(a, b)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} NAME(LONG, aa) SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} NAME(LONG, ab) SEC(".maps");

SEC("perf_event")
int NAME(LONG, program)(struct bpf_perf_event_data *ctx)
{
	__u32 zero = 0;
	__u64 *first = bpf_map_lookup_elem(&NAME(LONG, aa), &zero);
	__u32 *second = bpf_map_lookup_elem(&NAME(LONG, ab), &zero);

	if (first)
		++*first;
	if (second)
		++*second;
	return 0;
}
