/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that an object may hold: programs of several types, some of which nothing makes run; .rodata,
 * .data and .bss; a map that its author wants pinned; a static function and a global one.
 */
#include "bb_bpf.h"

const volatile __u32 step = 1;
__u64 total = 5;
__u64 calls;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
	__uint(pinning, LIBBPF_PIN_BY_NAME);
} bpfbench_pin SEC(".maps");

static __attribute__((noinline)) __u64 add(__u64 to)
{
	return to + step;
}

__attribute__((noinline)) int count(__u32 key)
{
	__u64 *value = bpf_map_lookup_elem(&bpfbench_pin, &key);

	if (value)
		*value = add(*value);
	calls++;
	return 0;
}

SEC("xdp")
int counts(struct xdp_md *ctx)
{
	total = add(total);
	return count(0) ? XDP_DROP : XDP_PASS;
}

SEC("?tc")
int on_request(struct __sk_buff *skb)
{
	return count(0);
}

SEC("perf_event")
int sampled(struct bpf_perf_event_data *ctx)
{
	return count(0);
}

SEC("xdp/devmap")
int on_devmap(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp/cpumap")
int on_cpumap(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("kprobe/do_nothing")
int probe(void *ctx)
{
	return 0;
}

SEC("freplace/counts")
int replaces(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("my_section")
int of_no_type(void *ctx)
{
	return 0;
}
