/* SPDX-License-Identifier: GPL-2.0-only */
/* For harness/tests/tools/live_prog.c: a program that somebody else has loaded. It leaves a mark of
 * every run. */
#include "live_runs.h"

/* Longer than the 15 bytes of a name that the kernel keeps. */
SEC("tc")
int live_counts_its_runs(struct __sk_buff *skb)
{
	__u64 *runs = find_live_runs();

	if (runs)
		__sync_fetch_and_add(runs, 1);
	return 0;
}
