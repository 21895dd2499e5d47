/* SPDX-License-Identifier: GPL-2.0-only */
/* For each type of map, a program that looks up a random key of the first `entries`, and one that
 * draws the number, too, but looks up key 0. At the end, programs that change their map. */
#include "bb_bpf.h"
#include <bpf/bpf_endian.h>

const volatile __u32 entries = 1;

struct trie_key {
	__u32 bits, address;
};

#define MAP(map_, type_, key_, flags_)                                                             \
	struct {                                                                                   \
		__uint(type, type_);                                                               \
		__uint(max_entries, 1000000);                                                      \
		__uint(map_flags, flags_);                                                         \
		__type(key, key_);                                                                 \
		__type(value, __u64);                                                              \
	} map_ SEC(".maps");

/* In `_one` the key is always 0, but clang cannot know that, so it keeps the random number. */
#define PROGRAMS(map_, key_)                                                                       \
	static __always_inline int map_##_find(__u32 i)                                            \
	{                                                                                          \
		__u64 *value = bpf_map_lookup_elem(&map_, &(key_));                                \
		return value ? 1 + (int)*value : 0;                                                \
	}                                                                                          \
	SEC("xdp") int map_##_random(struct xdp_md *ctx)                                           \
	{                                                                                          \
		return map_##_find(bpf_get_prandom_u32() % entries);                               \
	}                                                                                          \
	SEC("xdp") int map_##_one(struct xdp_md *ctx)                                              \
	{                                                                                          \
		__u32 drawn = bpf_get_prandom_u32() % entries;                                     \
		return map_##_find(drawn >= entries);                                              \
	}

MAP(hash, BPF_MAP_TYPE_HASH, __u32, 0)
MAP(lru, BPF_MAP_TYPE_LRU_HASH, __u32, 0)
MAP(percpu, BPF_MAP_TYPE_PERCPU_HASH, __u32, 0)
MAP(array, BPF_MAP_TYPE_ARRAY, __u32, 0)
MAP(trie, BPF_MAP_TYPE_LPM_TRIE, struct trie_key, BPF_F_NO_PREALLOC)

PROGRAMS(hash, (__u32){i})
PROGRAMS(lru, (__u32){i})
PROGRAMS(percpu, (__u32){i})
PROGRAMS(array, (__u32){i})
PROGRAMS(trie, ((struct trie_key){32, bpf_htonl(i)}))

SEC("xdp")
int sizes_empty(struct xdp_md *ctx)
{
	return 1;
}

/* Changes a value, adds an entry and deletes one, so that the map must be restored. */
SEC("xdp")
int hash_changes(struct xdp_md *ctx)
{
	__u32 key = 1, gone = 2;
	__u64 *value = bpf_map_lookup_elem(&hash, &key), one = 1;

	if (value)
		*value += 1;
	bpf_map_delete_elem(&hash, &gone);
	key = 5000000;
	bpf_map_update_elem(&hash, &key, &one, BPF_ANY);
	return value ? 2 : 1;
}

SEC("xdp")
int percpu_changes(struct xdp_md *ctx)
{
	__u32 key = 1;
	__u64 *value = bpf_map_lookup_elem(&percpu, &key);

	if (value)
		*value += 1;
	return 1;
}

SEC("xdp")
int trie_empties(struct xdp_md *ctx)
{
	struct trie_key key = {32, bpf_htonl(1)};

	return bpf_map_delete_elem(&trie, &key) ? 1 : 2;
}
