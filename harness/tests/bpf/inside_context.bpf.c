/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Three programs whose paths depend on an argument of their tracepoint. In failed_calls it is a
 * number: if a system call failed, the program takes ten times as many rounds. In has_registers it
 * is an address in the kernel. In by_function, a function of the program reads the number.
 */
#include "bb_bpf.h"

#define ROUNDS 200

SEC("raw_tp/sys_exit")
int failed_calls(struct bpf_raw_tracepoint_args *ctx)
{
	volatile __u64 sum = 0;

	if ((long)ctx->args[1] < 0) {
		for (int i = 0; i < 10 * ROUNDS; i++)
			sum = sum + i;
		return 0;
	}
	for (int i = 0; i < ROUNDS; i++)
		sum = sum + i;
	return 0;
}

SEC("raw_tp/sys_enter")
int has_registers(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[0] > 1;
}

static __noinline int has_failed(struct bpf_raw_tracepoint_args *ctx)
{
	return (long)ctx->args[1] < 0;
}

SEC("raw_tp/sys_exit")
int by_function(struct bpf_raw_tracepoint_args *ctx)
{
	return has_failed(ctx) ? 2 : 1;
}
