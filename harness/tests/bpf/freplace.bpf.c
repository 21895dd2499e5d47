/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that takes the place of another one's function: load_all -p says whose. */
#include "bb_bpf.h"

SEC("freplace/live_counts_its_runs")
int replaces(struct __sk_buff *ctx)
{
	return ctx->len > 100 ? 2 : 1;
}
