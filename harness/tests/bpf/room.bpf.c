/* SPDX-License-Identifier: GPL-2.0-only */
/* Six programs and a map of 200 MB, which each program has for itself. A seventh is for a function
 * that no kernel has. */
#include "bb_bpf.h"

struct page {
	__u64 words[512];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 51200);
	__type(key, __u32);
	__type(value, struct page);
} pages SEC(".maps");

#define ROOM(n)                                                                                    \
	SEC("xdp")                                                                                 \
	int room##n(struct xdp_md *ctx)                                                            \
	{                                                                                          \
		__u32 key = n;                                                                     \
		struct page *page = bpf_map_lookup_elem(&pages, &key);                             \
                                                                                                   \
		if (page)                                                                          \
			page->words[0]++;                                                          \
		return XDP_PASS;                                                                   \
	}

ROOM(1)
ROOM(2)
ROOM(3)
ROOM(4)
ROOM(5)
ROOM(6)

SEC("fentry/bb_no_such_function") int absent(void *ctx)
{
	return 0;
}
