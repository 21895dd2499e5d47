/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs whose executed instructions can be counted by hand. They are in assembly, so that the
 * compiler does not change the number. The comment above each program derives its number, which
 * test_bpf_exact.c expects. A 64-bit constant ("ll") is one instruction.
 */
#include "bb_bpf.h"

#define NAKED __attribute__((naked))
#define NOINLINE __attribute__((noinline))

/* 2 */
SEC("xdp")
NAKED int straight(void)
{
	asm volatile("r0 = 2; exit;" ::: "memory");
}

/* 1 + 100 * 2 + 1 = 202 */
SEC("xdp")
NAKED int loop100(void)
{
	asm volatile("r0 = 0; 1: r0 += 1; if r0 < 100 goto 1b; exit;" ::: "memory");
}

/* 1 + 10 * (1 + 20 * 2 + 2) + 2 = 433 */
SEC("xdp")
NAKED int nested(void)
{
	asm volatile("r1 = 0; 1: r2 = 0; 2: r2 += 1; if r2 < 20 goto 2b; r1 += 1; if r1 < 10 goto "
		     "1b; r0 = 2; exit;" ::
			     : "memory");
}

/*
 * 5 to check the bounds, then by the first byte of the packet:
 *   0: 2 to the jump and 2 behind it, 9 in all; 1: 3 and 4, 12 in all;
 *   n > 1: 3 and 1 + 2n + 2, 11 + 2n in all.
 */
SEC("xdp")
NAKED int packet(void)
{
	asm volatile("r2 = *(u32 *)(r1 + 0); r3 = *(u32 *)(r1 + 4); r4 = r2; r4 += 1; if r4 > r3 "
		     "goto 9f;"
		     "r5 = *(u8 *)(r2 + 0); if r5 == 0 goto 1f; if r5 == 1 goto 2f;"
		     "r0 = r5; 3: r0 += -1; if r0 != 0 goto 3b; r0 = 2; exit;"
		     "1: r0 = 2; exit;"
		     "2: r0 = 0; r0 += 1; r0 += 1; exit;"
		     "9: r0 = 1; exit;" ::
			     : "memory");
}

/* 3 a call */
static NAKED NOINLINE int add_one(void)
{
	asm volatile("r0 = r1; r0 += 1; exit;" ::: "memory");
}

/* 2 + 7 * (2 + 3 + 3) + 2 = 60 */
SEC("xdp")
NAKED int static_calls(void)
{
	asm volatile("r6 = 0; r7 = 0; 1: r1 = r6; call %[add_one]; r6 = r0; r7 += 1; if r7 < 7 "
		     "goto 1b; r0 = 2; exit;" ::[add_one] "i"(add_one)
		     : "memory");
}

/*
 * Has an argument that it never reads, and that the verifier checks all the same. 3 a call: r0 =
 * r1; r0 += 1; exit. (Not naked: clang gives the arguments of naked functions no names, and kernels
 * want them.)
 */
NOINLINE int global_add(int used, int unused)
{
	return used + 1;
}

/* 1 + 5 * (3 + 3 + 2) + 2 = 43 */
SEC("xdp")
NAKED int global_calls(void)
{
	asm volatile("r6 = 0; 1: r1 = r6; r2 = 7; call %[global_add]; r6 += 1; if r6 < 5 goto 1b; "
		     "r0 = 2; exit;" ::[global_add] "i"(global_add)
		     : "memory");
}

/* 2 a round */
static NAKED NOINLINE int go_on(void)
{
	asm volatile("r0 = 0; exit;" ::: "memory");
}

/* 7 + 50 * 2 = 107 */
SEC("xdp")
NAKED int callback(void)
{
	asm volatile("r1 = 50; r2 = %[go_on] ll; r3 = 0; r4 = 0; call %[loop]; r0 = 2; exit;" ::
			     [go_on] "i"(go_on),
		     [loop] "i"(BPF_FUNC_loop)
		     : "memory");
}

/* 3 a round; the 10th round is the last */
static NAKED NOINLINE int stop_at_9(void)
{
	asm volatile("if r1 == 9 goto 1f; r0 = 0; exit; 1: r0 = 1; exit;" ::: "memory");
}

/* 7 + 10 * 3 = 37 */
SEC("xdp")
NAKED int callback_stops(void)
{
	asm volatile("r1 = 50; r2 = %[stop] ll; r3 = 0; r4 = 0; call %[loop]; r0 = 2; exit;" ::
			     [stop] "i"(stop_at_9),
		     [loop] "i"(BPF_FUNC_loop)
		     : "memory");
}

/* --- leaving the program --- */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps"); /* the test puts tail_target's clone at 1 */

/* 4 */
SEC("xdp")
NAKED int tail_target(void)
{
	asm volatile("r0 = 2; r0 += 0; r0 += 0; exit;" ::: "memory");
}

/* 4, and those of the target; 6 if the tail call fails */
SEC("xdp")
NAKED int tail_call(void)
{
	asm volatile(
		"r6 = r1; r2 = %[map] ll; r3 = 1; call 12; r0 = 1; exit;" ::[map] "i"(&programs)
		: "memory");
}

/* 6: slot 3 is empty */
SEC("xdp")
NAKED int tail_miss(void)
{
	asm volatile(
		"r6 = r1; r2 = %[map] ll; r3 = 3; call 12; r0 = 1; exit;" ::[map] "i"(&programs)
		: "memory");
}

/* 3, and those of the target; 5 if the tail call fails */
static NAKED NOINLINE int tail_in_sub(void)
{
	asm volatile("r2 = %[map] ll; r3 = 1; call 12; r0 = 0; exit;" ::[map] "i"(&programs)
		     : "memory");
}

/* The target ends the subprogram, not the program: 3 + 3, and those of the target */
SEC("xdp")
NAKED int tail_sub(void)
{
	asm volatile("call %[sub]; r0 += 0; exit;" ::[sub] "i"(tail_in_sub) : "memory");
}

/* A load beyond the packet ends the program: 2; 4 with a packet of more than 600 bytes */
SEC("socket")
NAKED int packet_load(void)
{
	asm volatile("r6 = r1; r0 = *(u8 *)skb[600]; r0 = 5; exit;" ::: "memory");
}

/* --- helpers and maps --- */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} ring SEC(".maps");

/* A record takes 8 + 64 bytes. 11 if the ring has room for it, 7 if not. */
SEC("tc")
NAKED int ring_record(void)
{
	asm volatile("r1 = %[ring] ll; r2 = 64; r3 = 0; call %[reserve]; if r0 == 0 goto 1f;"
		     "r1 = r0; r2 = 0; *(u64 *)(r0 + 0) = r2; call %[submit];"
		     "1: r0 = 2; exit;" ::[ring] "i"(&ring),
		     [reserve] "i"(BPF_FUNC_ringbuf_reserve), [submit] "i"(BPF_FUNC_ringbuf_submit)
		     : "memory");
}

struct locked {
	struct bpf_spin_lock lock;
	__u32 unused;
	__u64 value;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct locked);
} locked SEC(".maps");

/* A basic block between taking and giving back a lock, where no call is allowed: 13, then 3 for
 * more than 100 bytes and 2 for fewer, then 4 */
SEC("tc")
NAKED int lock(void)
{
	asm volatile("r9 = r1; r2 = 0; *(u32 *)(r10 - 4) = r2; r1 = %[map] ll; r2 = r10; r2 += -4; "
		     "call %[lookup];"
		     "if r0 == 0 goto 9f; r6 = r0; r1 = r0;"
		     "r8 = *(u32 *)(r9 + 0); call %[lock];"
		     "if r8 > 100 goto 1f; r7 = 1; goto 2f;"
		     "1: r7 = *(u64 *)(r6 + 8); r7 += 1; *(u64 *)(r6 + 8) = r7;"
		     "2: r1 = r6; call %[unlock]; r0 = 0; exit;"
		     "9: r0 = 1; exit;" ::[map] "i"(&locked),
		     [lookup] "i"(BPF_FUNC_map_lookup_elem), [lock] "i"(BPF_FUNC_spin_lock),
		     [unlock] "i"(BPF_FUNC_spin_unlock)
		     : "memory");
}

/* --- other types --- */

/* 2 */
SEC("perf_event")
NAKED int event(void)
{
	asm volatile("r0 = 0; exit;" ::: "memory");
}

/* Sleepable. Counts down from the n in its context: 2 + 2n + 1 for n of 1 to 100 */
SEC("syscall")
NAKED int syscall_loop(void)
{
	asm volatile("r0 = *(u32 *)(r1 + 0); if r0 > 100 goto 2f; 1: r0 += -1; if r0 s> 0 goto 1b; "
		     "2: exit;" ::
			     : "memory");
}

/* 3 */
SEC("raw_tp/sched_switch")
NAKED int raw_args(void)
{
	asm volatile("r0 = *(u64 *)(r1 + 0); r0 += 1; exit;" ::: "memory");
}

/* All registers are in use in the loop, so a counter there must save one: 10 + 3 * 2 + 10 = 26 */
SEC("xdp")
NAKED int all_registers(void)
{
	asm volatile("r9 = r1; r1 = 1; r2 = 2; r3 = 3; r4 = 4; r5 = 5; r6 = 6; r7 = 7; r8 = 8; r0 "
		     "= 0;"
		     "1: r0 += 1; if r0 < 3 goto 1b;"
		     "r0 += r1; r0 += r2; r0 += r3; r0 += r4; r0 += r5; r0 += r6; r0 += r7; r0 += "
		     "r8;"
		     "r9 = *(u32 *)(r9 + 0); exit;" ::
			     : "memory");
}

/* The same with all 512 bytes of the stack in use: there is no room to save a register. */
SEC("xdp")
NAKED int no_room(void)
{
	asm volatile("r9 = r1; r1 = 1; *(u64 *)(r10 - 512) = r1; r2 = 2; r3 = 3; r4 = 4; r5 = 5; "
		     "r6 = 6; r7 = 7; r8 = 8;"
		     "r0 = 0;"
		     "1: r0 += 1; if r0 < 3 goto 1b;"
		     "r0 += r1; r0 += r2; r0 += r3; r0 += r4; r0 += r5; r0 += r6; r0 += r7; r0 += "
		     "r8;"
		     "r9 = *(u32 *)(r9 + 0); exit;" ::
			     : "memory");
}
