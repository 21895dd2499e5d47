// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs for the drive `parallel`. CPUs that run one at the same time write one counter, a
 * counter for each CPU, one bucket, values of their own keys, or one ring. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define COUNTER(name, map_type)                                                                    \
	struct {                                                                                   \
		__uint(type, map_type);                                                            \
		__uint(max_entries, 1);                                                            \
		__type(key, __u32);                                                                \
		__type(value, __u64);                                                              \
	} name SEC(".maps")

COUNTER(shared, BPF_MAP_TYPE_ARRAY);
COUNTER(of_cpu, BPF_MAP_TYPE_PERCPU_ARRAY);

#define TIMES 8

static __always_inline int count(void *map)
{
	__u32 key = 0;
	__u64 *n = bpf_map_lookup_elem(map, &key);

	if (!n)
		return 1;
#pragma unroll
	for (int i = 0; i < TIMES; i++)
		__sync_fetch_and_add(n, 1);
	return 0;
}

SEC("tc")
int empty(struct __sk_buff *skb)
{
	return 0;
}

SEC("tc")
int one_counter(struct __sk_buff *skb)
{
	return count(&shared);
}

SEC("tc")
int counter_each(struct __sk_buff *skb)
{
	return count(&of_cpu);
}

/* An update locks the bucket of its key, also of a per-CPU hash. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} locked SEC(".maps");

SEC("tc")
int one_bucket(struct __sk_buff *skb)
{
	__u32 key = 0;
	__u64 one = 1;

	return (int)bpf_map_update_elem(&locked, &key, &one, BPF_ANY);
}

/* A counter for each source port of an IPv4 packet of UDP. CPUs that have packets of different
 * ports share no value and no bucket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u16);
	__type(value, __u64);
} by_port SEC(".maps");

SEC("tc")
int counter_of_flow(struct __sk_buff *skb)
{
	__u16 port = 0;
	__u64 zero = 0, *n;

	bpf_skb_load_bytes(skb, 34, &port, sizeof(port));
	n = bpf_map_lookup_elem(&by_port, &port);
	if (!n)
		return (int)bpf_map_update_elem(&by_port, &port, &zero, BPF_ANY);
#pragma unroll
	for (int i = 0; i < TIMES; i++)
		__sync_fetch_and_add(n, 1);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

/* Every record moves the ring's one position, whichever packet it is about. */
SEC("tc")
int record_of_flow(struct __sk_buff *skb)
{
	__u16 *port = bpf_ringbuf_reserve(&records, 8, 0);

	if (!port)
		return 0;
	bpf_skb_load_bytes(skb, 34, port, sizeof(*port));
	bpf_ringbuf_submit(port, BPF_RB_NO_WAKEUP);
	return 0;
}

char _license[] SEC("license") = "GPL";
