/* SPDX-License-Identifier: GPL-2.0-only */
/* The same work on four kinds of hooks, in as many turns as the loader says. */
#include "bb_bpf.h"

#define MOST_TURNS 1000

const volatile __u32 turns = 100;
__u64 sum;

static __always_inline int work(int retval)
{
	__u64 x = bpf_get_prandom_u32();

	for (__u32 i = 0; i < MOST_TURNS && i < turns; i++)
		x = x * 6364136223846793005ULL + i;
	sum = x;
	return retval;
}

SEC("tp/task/task_rename")
int on_tracepoint(void *ctx)
{
	return work(0);
}

SEC("uprobe/libc.so.6:malloc")
int on_function(void *ctx)
{
	return work(0);
}

SEC("cgroup/sock_create")
int on_cgroup(void *ctx)
{
	return work(1);
}

SEC("raw_tp/task_rename")
int on_raw_tp(void *ctx)
{
	return work(0);
}
