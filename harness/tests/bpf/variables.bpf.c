/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that keeps state in global variables, none of which is called `drops`. */
#include <linux/types.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

__u32 runs, base = 40;

SEC("tc")
int counts(struct __sk_buff *skb)
{
	return base++ + runs++;
}
