/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/user_function.h"

/* This function has a file to itself, so that the compiler neither inlines nor clones it. */
uint64_t bb_own_function(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
			 uint64_t ret)
{
	__asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f) : "memory");
	return ret;
}
