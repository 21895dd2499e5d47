/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints every pair of amicable numbers up to LAST, the larger number of a pair first. */

#include "base/parse.h"
#include "workloads/amicable_pairs.h"

static void print_pair(uint32_t larger, uint32_t smaller, void *)
{
	printf("%u %u\n", larger, smaller);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct bb_amicable_search search = {.first = 1,
					    .last = BB_AMICABLE_LAST,
					    .found = print_pair};
	uint64_t last = BB_AMICABLE_LAST;

	/* A first argument that is not a number is a label, which shows in ps(1). */
	if (argc > 1 && !bb_parse_u64(argv[1], &last) && last > BB_AMICABLE_LAST) {
		fprintf(stderr, "usage: amicable_pairs [LAST] [LABEL], LAST up to %u\n",
			BB_AMICABLE_LAST);
		return 2;
	}
	search.last = (uint32_t)last;

	bb_amicable_search(&search);
	return ferror(stdout) ? 1 : 0;
}
