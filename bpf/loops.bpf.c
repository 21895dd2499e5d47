/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose cost is known by construction, to test the statistics. The time of `loop` depends
 * on the address that the JIT gives it. The time of `straight` does not, because it has no
 * jumps. */
#include "bb_bpf.h"
#include "multiplications.h"

const volatile __u32 rounds = 200;
__u64 sink;

SEC("perf_event")
int empty(struct bpf_perf_event_data *ctx)
{
	return 0;
}

/* The floor for a benchmark of test runs. */
SEC("xdp")
int empty_xdp(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("perf_event")
int loop(struct bpf_perf_event_data *ctx)
{
	__u64 a = 1, b = 7;

	for (__u32 i = 0; i < 100000; i++) {
		if (i >= rounds)
			break;
		a += b;
		b ^= a;
		b >>= 3;
		if (b & 1)
			a += 3;
	}
	sink = a;
	return 0;
}

SEC("perf_event")
int straight(struct bpf_perf_event_data *ctx)
{
	__u64 x = bpf_get_current_pid_tgid();

	BB_STEP64(x);
	BB_STEP64(x);
	BB_STEP64(x);
	BB_STEP64(x);
	sink = x;
	return 0;
}
