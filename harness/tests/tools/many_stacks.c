/* SPDX-License-Identifier: GPL-2.0-or-later */
/* many_stacks SECONDS: 32 functions call each other at random, 20 to 40 deep, so that nearly all
 * stacks differ. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define N_FUNCTIONS 32

static uint32_t random_state = 2463534242u;
static volatile uint32_t sink;

static uint32_t random_u32(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return random_state;
}

typedef void (*function)(int depth);
static const function functions[N_FUNCTIONS];

/* Each function has code of its own, and its call is not a tail call. */
#define FUNCTION(n)                                                                                \
	static __attribute__((noinline)) void function_##n(int depth)                              \
	{                                                                                          \
		if (depth > 0)                                                                     \
			functions[random_u32() % N_FUNCTIONS](depth - 1);                          \
		else                                                                               \
			for (int i = 0; i < 3000; i++)                                             \
				sink += n;                                                         \
		sink += n;                                                                         \
	}
#define EIGHT(a, b, c, d, e, f, g, h)                                                              \
	FUNCTION(a)                                                                                \
	FUNCTION(b) FUNCTION(c) FUNCTION(d) FUNCTION(e) FUNCTION(f) FUNCTION(g) FUNCTION(h)

EIGHT(0, 1, 2, 3, 4, 5, 6, 7)
EIGHT(8, 9, 10, 11, 12, 13, 14, 15)
EIGHT(16, 17, 18, 19, 20, 21, 22, 23)
EIGHT(24, 25, 26, 27, 28, 29, 30, 31)

static const function functions[N_FUNCTIONS] = {
	function_0,  function_1,  function_2,  function_3,  function_4,  function_5,  function_6,
	function_7,  function_8,  function_9,  function_10, function_11, function_12, function_13,
	function_14, function_15, function_16, function_17, function_18, function_19, function_20,
	function_21, function_22, function_23, function_24, function_25, function_26, function_27,
	function_28, function_29, function_30, function_31,
};

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		functions[random_u32() % N_FUNCTIONS](20 + (int)(random_u32() % 20));
	return 0;
}
