/* SPDX-License-Identifier: GPL-2.0-only */
/* The program of an agent, whose loader sets its cost: it loops at each getpgid(). */
#include "bb_bpf.h"

const volatile __u32 rounds = 20;
const volatile __u32 emits = 0; /* write a record into a ring buffer, too */
const volatile __u64 syscall_nr = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} unread SEC(".maps");

SEC("raw_tracepoint/sys_enter")
int costs_rounds(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 a = ctx->args[1], b = 7;

	if (a != syscall_nr)
		return 0;
	for (__u32 i = 0; i < 100000; i++) {
		if (i >= rounds)
			break;
		a += b;
		b ^= a;
		b >>= 3;
		asm volatile("" : "+r"(a), "+r"(b)); /* the loop is not optimized away */
	}
	if (emits)
		bpf_ringbuf_output(&unread, &b, sizeof(b), 0);
	return 0;
}
