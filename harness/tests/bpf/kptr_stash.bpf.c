// SPDX-License-Identifier: GPL-2.0-only
/* A program that keeps objects of a type of its own in a map: the map's BTF must be that of the
 * program. It calls kfuncs of Linux 6.4; other kernels refuse the object, so it has no other
 * program. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct stashed_node {
	__u64 key, data;
};

typedef struct stashed_node stashed; /* without it, clang 14 drops the type tag */

struct stash {
	__u64 unused;
	stashed __attribute__((btf_type_tag("kptr"))) * node;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct stash);
} stashes SEC(".maps");

extern void *bpf_obj_new_impl(__u64 local_type_id, void *meta) __ksym;
extern void bpf_obj_drop_impl(void *kptr, void *meta) __ksym;

/* Puts a new object into the map and frees the one that was there. */
SEC("tc")
int swaps(struct __sk_buff *ctx)
{
	__u32 key = ctx->len & 3;
	struct stash *stash = bpf_map_lookup_elem(&stashes, &key);
	struct stashed_node *node;

	if (!stash)
		return 1;
	node = bpf_obj_new_impl(__builtin_btf_type_id(*(struct stashed_node *)0, 0), 0);
	if (!node)
		return 2;
	node->key = key;
	node->data = ctx->len;
	node = bpf_kptr_xchg(&stash->node, node);
	if (node)
		bpf_obj_drop_impl(node, 0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
