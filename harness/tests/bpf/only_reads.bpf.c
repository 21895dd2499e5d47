/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that only read the map `table`, and programs that change it, each in another way. */
#include "bb_bpf.h"

#define MAP(name, map_type)                                                                        \
	struct {                                                                                   \
		__uint(type, map_type);                                                            \
		__uint(max_entries, 8192);                                                         \
		__type(key, __u64);                                                                \
		__type(value, __u64);                                                              \
	} name SEC(".maps")

MAP(table, BPF_MAP_TYPE_HASH);
MAP(other, BPF_MAP_TYPE_HASH);
MAP(lru, BPF_MAP_TYPE_LRU_HASH);

SEC("xdp")
int reads(struct xdp_md *ctx)
{
	__u64 key = 3, *value = bpf_map_lookup_elem(&table, &key);

	return value ? (int)*value : 0;
}

SEC("xdp")
int writes_other(struct xdp_md *ctx)
{
	__u64 key = 3, *value = bpf_map_lookup_elem(&table, &key);

	if (value)
		bpf_map_update_elem(&other, &key, value, BPF_ANY);
	return 0;
}

SEC("xdp")
int stores(struct xdp_md *ctx)
{
	__u64 key = 3, *value = bpf_map_lookup_elem(&table, &key);

	if (value)
		*value += 1;
	return 0;
}

SEC("xdp")
int updates(struct xdp_md *ctx)
{
	__u64 key = 3, value = 9;

	bpf_map_update_elem(&table, &key, &value, BPF_ANY);
	return 0;
}

SEC("xdp")
int deletes(struct xdp_md *ctx)
{
	__u64 key = 3;

	bpf_map_delete_elem(&table, &key);
	return 0;
}

/* The helper writes to the value. */
SEC("tc")
int copies(struct __sk_buff *ctx)
{
	__u64 key = 3, *value = bpf_map_lookup_elem(&table, &key);

	if (value)
		bpf_skb_load_bytes(ctx, 0, value, sizeof(*value));
	return 0;
}

SEC("xdp")
int reads_lru(struct xdp_md *ctx)
{
	__u64 key = 3, *value = bpf_map_lookup_elem(&lru, &key);

	return value ? (int)*value : 0;
}
