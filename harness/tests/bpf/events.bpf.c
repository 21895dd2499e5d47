// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracepoint programs whose sections lack the group of their tracepoint, or name no tracepoint. Two
 * of the latter are called as their event; nothing says which event `of_nothing` is for. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tp/task_rename")
int without_group(void *ctx)
{
	return 0;
}

SEC("tp")
int task_rename(void *ctx)
{
	return 0;
}

SEC("tracepoint")
int tracepoint__task__task_rename(void *ctx)
{
	return 0;
}

SEC("tp")
int of_nothing(void *ctx)
{
	return 0;
}
