/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that return what they find in their maps, and then change it. */
#include "bb_bpf.h"

#define KEYS 8

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u16);
} hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u64);
} array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u32);
} percpu_array SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, KEYS);
	__type(key, __u64);
	__uint(value_size, 12); /* no multiple of 8: the kernel rounds it up */
} percpu_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} lru_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, KEYS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(key_size, 8); /* prefix length and IPv4 address */
	__type(value, __u32);
} trie SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 100000);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u64);
} big_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, KEYS);
	__type(key, __u32);
	__type(value, __u32);
} jumps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

/* Returns 10 times the number of keys from 0 to 7 that are there, plus the value of key 2. Then it
 * adds a key and changes that value. */
SEC("tc")
int finds_in_hash(struct __sk_buff *skb)
{
	__u32 n = 0, key, found = 0;
	__u16 *value;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < KEYS; i++) {
		key = i;
		n += bpf_map_lookup_elem(&hash, &key) != NULL;
	}
	key = 2;
	value = bpf_map_lookup_elem(&hash, &key);
	if (value)
		found = (*value)++;
	key = n;
	bpf_map_update_elem(&hash, &key, &(__u16){77}, BPF_ANY);
	return n * 10 + found;
}

/* Returns the sum of all entries, and adds one to each. */
SEC("tc")
int finds_in_array(struct __sk_buff *skb)
{
	__u64 sum = 0, *value;

#pragma clang loop unroll(full)
	for (__u32 i = 0; i < KEYS; i++) {
		__u32 key = i;

		value = bpf_map_lookup_elem(&array, &key);
		if (value)
			sum += (*value)++;
	}
	return sum;
}

SEC("tc")
int finds_in_percpu_array(struct __sk_buff *skb)
{
	__u32 key = 1, *value = bpf_map_lookup_elem(&percpu_array, &key);

	return value ? (*value)++ : -1;
}

/* Writes to each of the other maps. */
SEC("tc")
int fills(struct __sk_buff *skb)
{
	__u64 long_key = 99;
	__u32 key = 99, bytes[3] = {1, 2, 3}, address[2] = {8, 99};

	bpf_map_update_elem(&percpu_hash, &long_key, bytes, BPF_ANY);
	bpf_map_update_elem(&lru_hash, &key, &key, BPF_ANY);
	bpf_map_update_elem(&trie, address, &key, BPF_ANY);
	bpf_ringbuf_output(&ring, &key, sizeof(key), 0);
	return 0;
}

SEC("tc")
int tail_a(struct __sk_buff *skb)
{
	return 100;
}

SEC("tc")
int tail_b(struct __sk_buff *skb)
{
	return 200;
}

const volatile __u32 slot = 3;

SEC("tc")
int jumps_to_slot(struct __sk_buff *skb)
{
	bpf_tail_call(skb, &jumps, slot);
	return 7;
}

/* Returns the value of key 7. */
SEC("tc")
int finds_in_big_hash(struct __sk_buff *skb)
{
	__u64 key = 7, *value = bpf_map_lookup_elem(&big_hash, &key);

	(void)skb;
	return value ? (int)*value : -1;
}

/* Counts a drop if it finds what an earlier run left. */
SEC("perf_event")
int expects_zero(struct bpf_perf_event_data *ctx)
{
	__u32 key = 5;
	__u64 *value = bpf_map_lookup_elem(&array, &key);

	if (value && (*value)++)
		bb_count_drop();
	return 0;
}
