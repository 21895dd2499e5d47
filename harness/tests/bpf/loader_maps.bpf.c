/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps whose sizes a loader must correct or choose: as they are here, the kernel refuses them. */
#include "bb_bpf.h"

struct record {
	__u64 a, b, c;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
	__array(
		values, struct { __uint(type, BPF_MAP_TYPE_RINGBUF); });
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
	__type(value, struct record);
} ring_of_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
} unsized_events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, __u32);
	__type(value, struct record);
} events_of_records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_STORAGE);
	__type(key, struct bpf_cgroup_storage_key);
	__type(value, __u64);
} of_cgroup SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE);
	__type(key, struct bpf_cgroup_storage_key);
	__type(value, __u64);
} of_cgroup_and_cpu SEC(".maps");

SEC("xdp")
int looks_for_ring(struct xdp_md *ctx)
{
	struct record *r;
	__u32 zero = 0;
	void *ring = bpf_map_lookup_elem(&rings, &zero);

	if (!ring)
		return XDP_DROP;
	r = bpf_ringbuf_reserve(ring, sizeof(*r), 0);
	if (r)
		bpf_ringbuf_discard(r, 0);
	return XDP_PASS;
}

SEC("xdp")
int writes_ring(struct xdp_md *ctx)
{
	struct record r = {.a = 1};

	return bpf_ringbuf_output(&ring_of_records, &r, sizeof(r), 0) ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int writes_events(struct xdp_md *ctx)
{
	struct record r = {.a = 1};

	return bpf_perf_event_output(ctx, &unsized_events, BPF_F_CURRENT_CPU, &r, sizeof(r)) +
	       bpf_perf_event_output(ctx, &events_of_records, BPF_F_CURRENT_CPU, &r, sizeof(r));
}

SEC("cgroup_skb/egress")
int counts_in_cgroup(struct __sk_buff *skb)
{
	__u64 *n = bpf_get_local_storage(&of_cgroup, 0);

	__sync_fetch_and_add(n, 1);
	return 1;
}

SEC("cgroup_skb/egress")
int counts_by_cpu(struct __sk_buff *skb)
{
	__u64 *n = bpf_get_local_storage(&of_cgroup_and_cpu, 0);

	*n += 1;
	return 1;
}
