/* SPDX-License-Identifier: GPL-2.0-only */
/* One program says its tracepoint, the other leaves it to its loader: two triggers of one type. */
#include "bb_bpf.h"

SEC("raw_tracepoint/sys_enter")
int at_sys_enter(void *ctx)
{
	return 0;
}

SEC("raw_tracepoint")
int anywhere(void *ctx)
{
	return 0;
}
