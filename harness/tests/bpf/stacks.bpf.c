/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program for which the verifier's figures are known: 16 bytes of stack in the program, 40 in its
 * function, and no branch, so that each instruction is verified once. The compiler itself uses no
 * stack; the stores are in assembly.
 */
#include "bb_bpf.h"

#define STORE(offset, value)                                                                       \
	asm volatile("*(u64 *)(r10 - " #offset ") = %0" : : "r"(value) : "memory")

static __attribute__((noinline)) __u64 leaf(__u64 value)
{
	STORE(40, value);
	return value + 1;
}

SEC("socket")
int stacks(struct __sk_buff *skb)
{
	__u64 len = skb->len;

	STORE(16, len);
	return (int)leaf(len);
}
