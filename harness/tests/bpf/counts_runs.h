/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "bb_bpf.h"

/* Programs that count their runs in `runs` and return the same each time: one a hook. */
__u64 runs;

#define PROGRAM(name, section, retval)                                                             \
	SEC(section) int name(void *ctx)                                                           \
	{                                                                                          \
		__sync_fetch_and_add(&runs, 1);                                                    \
		return retval;                                                                     \
	}
