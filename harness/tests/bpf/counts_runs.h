/* SPDX-License-Identifier: GPL-2.0-only */
#pragma once

#include "bb_bpf.h"

/* PROGRAM() defines a program that counts its runs in `runs` and returns a fixed value. */
__u64 runs;

#define PROGRAM(name, section, retval)                                                             \
	SEC(section) int name(void *ctx)                                                           \
	{                                                                                          \
		__sync_fetch_and_add(&runs, 1);                                                    \
		return retval;                                                                     \
	}
