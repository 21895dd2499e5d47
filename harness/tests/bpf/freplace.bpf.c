/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that replaces a function of another BPF program; load_all's option -p says of which. */
#include "bb_bpf.h"

SEC("freplace/live_counts_its_runs")
int replaces(struct __sk_buff *ctx)
{
	return ctx->len > 100 ? 2 : 1;
}
