/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs whose numbers of instructions are known, one that only newer kernels load, and one that
 * no kernel loads. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define STRAIGHT(n)                                                                                \
	SEC("tc") int alu##n(struct __sk_buff *skb)                                                \
	{                                                                                          \
		asm volatile("r0 = 0; .rept " #n "; r0 += 1; .endr" ::: "r0");                     \
		return 0;                                                                          \
	}

STRAIGHT(100)
STRAIGHT(101)
STRAIGHT(200)
STRAIGHT(400)

static int nothing(__u32 i, void *ctx)
{
	return 0;
}

/* Long programs that return early in each tenth run: their most frequent number of instructions is
 * not their least. */
static __u32 runs;

#define ALTERNATES(n)                                                                              \
	SEC("tc") int varies##n(struct __sk_buff *skb)                                             \
	{                                                                                          \
		if (++runs % 10 == 0)                                                              \
			return 1;                                                                  \
		asm volatile("r0 = 0; .rept " #n "; r0 += 1; .endr" ::: "r0");                     \
		return 0;                                                                          \
	}

ALTERNATES(5000)
ALTERNATES(5001)
ALTERNATES(5002)

/* bpf_loop() is of Linux 5.17. */
SEC("tc") int loops(struct __sk_buff *skb)
{
	return (int)bpf_loop(10, nothing, 0, 0);
}

SEC("tc") int reads_outside(struct __sk_buff *skb)
{
	return *(int *)(long)skb->data;
}

char _license[] SEC("license") = "GPL";
