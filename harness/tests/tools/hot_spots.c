/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot_spots SECONDS [DEPTH]: spends 60, 30 and 10 % of so much CPU time in three functions, most of
 * it in a function that is inlined into them, DEPTH calls deep. Prints the time that each of the
 * three really had, ns. A profiler must find these shares: for the tests of `bpfbench profile`.
 * Uses nothing of the library, so that the tests can build it in other ways.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_NS 1000000u /* mean of a slice; the three functions take 6, 3 and 1 of them */

/* Not inlined: the C library has no frame pointers, so a stack lacks the function that calls it,
 * which must not be one of the hot functions. */
static __attribute__((noinline)) uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	/* work after the call, so that it is not a tail call */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) void inlined_spin(void)
{
	for (volatile unsigned int i = 0; i < 20000; i++)
		; /* the hot line */
}

/* A random time of 0.5 to 1.5 SLICE_NS (xorshift, Marsaglia 2003), so that the slices are not
 * synchronous with a clock that samples. */
static uint64_t slice_ns(void)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return SLICE_NS / 2 + x % SLICE_NS;
}

/* Three functions that differ only in the time they take. They are external, so that a stripped
 * program can still have their names. */
#define HOT(name, slices)                                                                          \
	uint64_t name(uint64_t now_ns);                                                            \
	__attribute__((noinline)) uint64_t name(uint64_t now_ns)                                   \
	{                                                                                          \
		uint64_t end_ns = now_ns + (slices)*slice_ns();                                    \
                                                                                                   \
		while ((now_ns = cpu_ns()) < end_ns)                                               \
			inlined_spin();                                                            \
		__asm__ volatile("" : : "i"(slices)); /* so that no two bodies are merged */       \
		return now_ns;                                                                     \
	}

HOT(hot_sixty, 6)
HOT(hot_thirty, 3)
HOT(hot_ten, 1)

static void run(double seconds)
{
	uint64_t begin_ns = cpu_ns(), now_ns = begin_ns, used_ns[3] = {0};

	while ((double)(now_ns - begin_ns) < seconds * 1e9) {
		uint64_t a = hot_sixty(now_ns), b = hot_thirty(a), c = hot_ten(b);

		used_ns[0] += a - now_ns;
		used_ns[1] += b - a;
		used_ns[2] += c - b;
		now_ns = c;
	}
	printf("hot_sixty %llu\nhot_thirty %llu\nhot_ten %llu\n", (unsigned long long)used_ns[0],
	       (unsigned long long)used_ns[1], (unsigned long long)used_ns[2]);
}

/* NOLINTNEXTLINE(misc-no-recursion): it makes deep stacks */
static __attribute__((noinline)) void descend(double seconds, int depth)
{
	if (depth > 0)
		descend(seconds, depth - 1);
	else
		run(seconds);
	__asm__ volatile(""); /* work after the call, so that it is not a tail call */
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;

	if (seconds <= 0) {
		fprintf(stderr, "usage: hot_spots SECONDS [DEPTH]\n");
		return 2;
	}
	descend(seconds, argc > 2 ? atoi(argv[2]) : 0);
	return 0;
}
