/* SPDX-License-Identifier: GPL-2.0-only */
/* A program on a function of another BPF program; load_all's option -p says of which one. */
#include "bb_bpf.h"

SEC("fentry/live_counts_its_runs")
int watches(void *ctx)
{
	return 0;
}
