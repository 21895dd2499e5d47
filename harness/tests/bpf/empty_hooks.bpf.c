/* SPDX-License-Identifier: GPL-2.0-only */
/* Programs that do nothing: bench_hook.c measures what a hook alone costs its target. */
#include "bb_bpf.h"

#define EMPTY(name, section)                                                                       \
	SEC(section) int name(void *ctx)                                                           \
	{                                                                                          \
		return 0;                                                                          \
	}

EMPTY(raw_tp, "raw_tp/task_rename")
EMPTY(tracepoint, "tp/task/task_rename")
EMPTY(uprobe, "uprobe/libc.so.6:malloc")
EMPTY(uretprobe, "uretprobe/libc.so.6:malloc")
