/* SPDX-License-Identifier: GPL-2.0-only */
/* The section of one program names its tracepoint, that of the other leaves it to the loader: two
 * triggers for one type. */
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
