/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Helpers that the tests of stats/ share. Only a header, so that each test links one file. */

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Checks |got - want| <= tolerance, and prints both on failure. */
#define assert_near(got, want, tolerance)                                                          \
	do {                                                                                       \
		double got_ = (got), want_ = (want);                                               \
		if (!(fabs(got_ - want_) <= (tolerance)))                                          \
			fail_msg("%s is %.17g, want %.17g +- %g", #got, got_, want_,               \
				 (double)(tolerance));                                             \
	} while (0)

#define assert_same(got, want) assert_near(got, want, 0)
#define assert_nan(got) assert_true(isnan(got))

/* Returns a count that Bin(n, p) exceeds with a probability of about 1e-6 or less: five standard
 * deviations and a little more. */
static inline double binomial_allowance(double n, double p)
{
	return n * p + 5 * sqrt(n * p * (1 - p)) + 3;
}
