/* SPDX-License-Identifier: GPL-2.0-only */
/* A TCP congestion control: programs that the kernel calls as members of a struct. */
#include "bb_bpf.h"

#include <bpf/bpf_tracing.h>

struct sock {
	int unused;
} __attribute__((preserve_access_index));

struct ack_sample {
	__u32 pkts_acked;
} __attribute__((preserve_access_index));

struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
	void (*pkts_acked)(struct sock *sk, const struct ack_sample *sample);
	__u32 (*undo_cwnd)(struct sock *sk);
	void (*init)(struct sock *sk);
	char name[16];
} __attribute__((preserve_access_index));

__u64 runs;

SEC("struct_ops/ssthresh")
__u32 BPF_PROG(on_ssthresh, struct sock *sk)
{
	return 2;
}

SEC("struct_ops/undo_cwnd")
__u32 BPF_PROG(on_undo, struct sock *sk)
{
	return 10;
}

SEC("struct_ops/cong_avoid")
void BPF_PROG(on_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
	__sync_fetch_and_add(&runs, 1);
}

SEC("struct_ops/pkts_acked")
void BPF_PROG(on_acked, struct sock *sk, const struct ack_sample *sample)
{
	__sync_fetch_and_add(&runs, sample->pkts_acked);
}

SEC("struct_ops/init")
void BPF_PROG(on_init, struct sock *sk)
{
	__sync_fetch_and_add(&runs, 1);
}

/* The tests replace this name by one of their own, as a name can be registered only once. */
SEC(".struct_ops")
struct tcp_congestion_ops control = {
	.ssthresh = (void *)on_ssthresh,
	.cong_avoid = (void *)on_avoid,
	.pkts_acked = (void *)on_acked,
	.undo_cwnd = (void *)on_undo,
	.init = (void *)on_init,
	.name = "bb_test_000000",
};
