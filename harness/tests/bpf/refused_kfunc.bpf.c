/* SPDX-License-Identifier: GPL-2.0-only */
/* Refused by libbpf or the kernel: it calls a function that no kernel has. */
#include "bb_bpf.h"

extern int bb_no_such_kfunc(void *ctx) __ksym;

SEC("tc")
int calls_it(struct __sk_buff *skb)
{
	return bb_no_such_kfunc(skb);
}
