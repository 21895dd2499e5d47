/* SPDX-License-Identifier: GPL-2.0-only */
/* libbpf does not open it: it calls a function that is in no section of externs (__ksym is
 * missing). */
#include "bb_bpf.h"

extern int bb_of_no_section(void *ctx);

SEC("tc")
int calls_it(struct __sk_buff *skb)
{
	return bb_of_no_section(skb);
}
