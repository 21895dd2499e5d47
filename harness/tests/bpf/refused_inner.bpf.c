/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An array of maps whose inner map no kernel takes: an array with keys that are too wide. Not every
 * kernel attaches a program of this type either; yet bpfbench must name the map as the reason, and
 * not the type.
 */
#include "bb_bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 3);
			__type(key, __u64);
			__type(value, __u64);
		});
} arrays SEC(".maps");

SEC("fentry/bpf_fentry_test1")
int looks_up(void *ctx)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&arrays, &zero) != 0;
}
