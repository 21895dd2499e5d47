/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose sections name a hook, each of another kind, and programs whose sections do not. */
#include "bb_bpf.h"

SEC("tp/sched/sched_switch")
int on_tracepoint(void *ctx)
{
	return 0;
}

SEC("raw_tp/sched_switch")
int on_raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

/* On a function in user space, which a shell calls for every echo. */
SEC("uprobe/libc.so.6:write")
int on_uprobe(void *ctx)
{
	return 0;
}

/* On the same function; its run is long enough to be sampled. */
__u64 sink;

SEC("uprobe/libc.so.6:write")
int on_uprobe_long(void *ctx)
{
	__u64 x = bpf_ktime_get_ns();

	for (__u32 i = 0; i < 20000; i++)
		x = (x ^ x >> 29) * 2862933555777941757ULL;
	sink = x;
	return 0;
}

/* Runs at every system call, also at those with which bpfbench reads its counters. */
SEC("raw_tp/sys_enter")
int on_sys_enter(struct bpf_raw_tracepoint_args *ctx)
{
	return 0;
}

/* Its section does not say where to attach it. */
SEC("xdp")
int nowhere(struct xdp_md *ctx)
{
	return XDP_PASS;
}

/* Its tracepoint does not exist. */
SEC("tp/sched/no_such_tracepoint")
int no_place(void *ctx)
{
	return 0;
}
