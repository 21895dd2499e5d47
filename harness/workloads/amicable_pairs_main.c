/* SPDX-License-Identifier: GPL-2.0-or-later */
/* amicable_pairs: prints every pair of amicable numbers below 65535, the larger one first. */
#include <stdio.h>

#include "workloads/amicable_pairs.h"

static void print_pair(uint32_t larger, uint32_t smaller, void *arg)
{
	(void)arg;
	printf("%u %u\n", larger, smaller);
	fflush(stdout);
}

int main(void)
{
	struct bb_amicable_search search = {.first = 1, .last = BB_AMICABLE_LAST, .found = print_pair};

	bb_amicable_search(&search);
	return ferror(stdout) ? 1 : 0;
}
