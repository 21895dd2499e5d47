/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that real packets run. They store on which CPUs they ran, and what they saw. */
#include "bb_bpf.h"
#include <linux/pkt_cls.h>

/* a bit for each CPU; the sum of all packets' last bytes */
enum { CPUS, LAST_BYTES, ENTRIES };

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, ENTRIES);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

static __always_inline void add(__u32 entry, __u64 bits, __u64 more)
{
	__u64 *value = bpf_map_lookup_elem(&seen, &entry);

	if (value)
		*value = (*value | bits) + more;
}

/* The tests' own packets have 60 bytes and EtherType 0x88b5; others add nothing to LAST_BYTES. */
static __always_inline void see(const unsigned char *data, const unsigned char *end)
{
	add(CPUS, 1ULL << bpf_get_smp_processor_id(), 0);
	if (data + 60 <= end && data[12] == 0x88 && data[13] == 0xb5)
		add(LAST_BYTES, 0, data[59]);
}

SEC("xdp")
int xdp_sees(struct xdp_md *ctx)
{
	see((void *)(long)ctx->data, (void *)(long)ctx->data_end);
	return XDP_PASS;
}

SEC("xdp")
int xdp_drops(struct xdp_md *ctx)
{
	return XDP_DROP;
}

SEC("tc")
int tc_sees(struct __sk_buff *skb)
{
	bpf_skb_pull_data(skb, 60);
	see((void *)(long)skb->data, (void *)(long)skb->data_end);
	return TC_ACT_OK;
}
