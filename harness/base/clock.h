/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* Returns CLOCK_MONOTONIC, ns. */
static inline uint64_t bb_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the seconds from `since_ns` until now. */
static inline double bb_seconds_since(uint64_t since_ns)
{
	return (double)(bb_now_ns() - since_ns) * 1e-9;
}
