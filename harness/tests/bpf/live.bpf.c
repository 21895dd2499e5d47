/* SPDX-License-Identifier: GPL-2.0-only */
/* The program that harness/tests/tools/live_prog.c loads and runs, as somebody else would. It
 * counts its runs in a map. */
#include "live_runs.h"

/* Its name is longer than the 15 bytes that the kernel keeps. */
SEC("tc")
int live_counts_its_runs(struct __sk_buff *skb)
{
	__u64 *runs = find_live_runs();

	if (runs)
		__sync_fetch_and_add(runs, 1);
	return 0;
}
