/* SPDX-License-Identifier: GPL-2.0-only */
/* A program that watches another one's function: load_all -p says whose. */
#include "bb_bpf.h"

SEC("fentry/live_counts_its_runs")
int watches(void *ctx)
{
	return 0;
}
