/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs of static probes (sys/sdt.h), which see their arguments: test_usdt.sh. */
#include "bb_bpf.h"
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

__u64 runs, wrong;

/* Executes most of its code if the probe's arguments are 64, "hello" and -5; otherwise little. */
static __always_inline int look(struct pt_regs *ctx)
{
	long number = 0, text = 0, negative = 0;
	char bytes[8] = {0};

	if (bpf_usdt_arg(ctx, 0, &number) || bpf_usdt_arg(ctx, 1, &text) ||
	    bpf_usdt_arg(ctx, 2, &negative)) {
		wrong++;
		return 1;
	}
	bpf_probe_read_user_str(bytes, sizeof(bytes), (void *)text);
	if (number != 64 || bytes[0] != 'h' || (int)negative != -5) {
		wrong++;
		return 2;
	}
#pragma unroll
	for (int i = 0; i < 100; i++)
		__sync_fetch_and_add(&runs, 1);
	return 0;
}

SEC("usdt")
int on_probe(struct pt_regs *ctx)
{
	return look(ctx);
}

SEC("usdt/libbb_usdt.so:bench:query")
int on_query(struct pt_regs *ctx)
{
	return look(ctx);
}

SEC("usdt")
int on_any(struct pt_regs *ctx)
{
	long number = 0;

	bpf_usdt_arg(ctx, 0, &number);
	runs += number >= 0;
	return 0;
}
