/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs in sections that libbpf 1.1 does not know: two that share a prog array (uprobe.multi),
 * and one in a tcx section, whose program type is that of tc. */
#include "bb_bpf.h"

int rest_of_probe(void *ctx);

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(void *));
} jumps SEC(".maps") = {
	.values = {[0] = (void *)&rest_of_probe},
};

SEC("uprobe.multi")
int rest_of_probe(void *ctx)
{
	return 0;
}

SEC("uprobe.multi")
int probe(void *ctx)
{
	bpf_tail_call(ctx, &jumps, 0);
	return 0;
}

SEC("tcx/ingress")
int at_ingress(struct __sk_buff *skb)
{
	return skb->len ? -1 : 0;
}
