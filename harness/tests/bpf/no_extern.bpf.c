/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpf does not open this object: the function that it calls is declared without __ksym. */
#include "bb_bpf.h"

extern int bb_of_no_section(void *ctx);

SEC("tc")
int calls_it(struct __sk_buff *skb)
{
	return bb_of_no_section(skb);
}
