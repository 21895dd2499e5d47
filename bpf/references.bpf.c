// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fixed pieces of work that run in every round beside the measured programs, and show how fast the
 * machine is during this run (run/references.h). There are three, because on a shared host their
 * costs vary independently of each other.
 */
#include "bb_bpf.h"

__u64 sink;

/* Shows the CPU's clock and our share of the core: 1024 instructions in four independent chains,
 * without jumps, so that the address of the code does not matter. */
#define STEP(x) asm volatile("%0 += 13\n\t%0 ^= 0x5bd1e995" : "+r"(x))
#define STEP4                                                                                      \
	STEP(a);                                                                                   \
	STEP(b);                                                                                   \
	STEP(c);                                                                                   \
	STEP(d)
#define TIMES8(x)                                                                                  \
	x;                                                                                         \
	x;                                                                                         \
	x;                                                                                         \
	x;                                                                                         \
	x;                                                                                         \
	x;                                                                                         \
	x;                                                                                         \
	x

SEC("socket")
int instructions(struct __sk_buff *skb)
{
	__u64 a = 1, b = 2, c = 3, d = 4;

	TIMES8(TIMES8(STEP4; STEP4));
	sink = a + b + c + d;
	return 0;
}

/*
 * Shows the speed of memory: 64 loads from 4 MiB, which is more than the caches of one core have.
 * The address of each load depends on the value of the load before. All words are 0, which neither
 * the compiler nor the CPU knows.
 */
#define WORDS (1u << 19)
#define WORDS_A_LINE 8
__u64 words[WORDS];
__u64 at;

SEC("socket")
int memory(struct __sk_buff *skb)
{
	__u64 i = at;

	for (int k = 0; k < 64; k++) {
		/* a linear congruential generator that visits all cache lines */
		i = i * 1664525 + 1013904223 + words[(i * WORDS_A_LINE) & (WORDS - 1)];
	}
	at = i;
	return 0;
}

/* Shows the cost of a wakeup: the CPU interrupts itself, which a hypervisor may have to handle. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} ring SEC(".maps");

SEC("socket")
int wakeup(struct __sk_buff *skb)
{
	void *record = bpf_ringbuf_reserve(&ring, 8, 0);

	if (!record) {
		bb_count_drop();
		return 0;
	}
	bpf_ringbuf_discard(record, BPF_RB_FORCE_WAKEUP);
	return 0;
}
