/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hot_spots SECONDS [DEPTH]: spends 60, 30 and 10 % of so much CPU time in three functions, the
 * most of it in one that is inlined into them, DEPTH calls deep; prints what each really had, in
 * ns. What a profiler must find: for the tests of `bpfbench profile`. Needs nothing of the library,
 * so that the tests can build it in other ways.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SLICE_NS 1000000u /* on average; a round has ten */

/* Not inlined: the C library has no frame pointers, and whoever calls it is missing from the stack.
 */
static __attribute__((noinline)) uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	/* after the call: it is no tail call */
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) void inlined_spin(void)
{
	for (volatile unsigned int i = 0; i < 20000; i++)
		; /* the hot line */
}

/* From half to one and a half of it, at random (xorshift, Marsaglia 2003): never in step with a
 * clock that samples. */
static uint64_t slice_ns(void)
{
	static uint32_t x = 2463534242u;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return SLICE_NS / 2 + x % SLICE_NS;
}

/* Three functions alike, but for how long they take; external, so that a stripped program can still
 * have them. */
#define HOT(name, slices)                                                                          \
	uint64_t name(uint64_t now_ns);                                                            \
	__attribute__((noinline)) uint64_t name(uint64_t now_ns)                                   \
	{                                                                                          \
		uint64_t end_ns = now_ns + (slices)*slice_ns();                                    \
                                                                                                   \
		while ((now_ns = cpu_ns()) < end_ns)                                               \
			inlined_spin();                                                            \
		__asm__ volatile("" : : "i"(slices)); /* code of its own */                        \
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

/* NOLINTNEXTLINE(misc-no-recursion): that is what it is for. */
static __attribute__((noinline)) void descend(double seconds, int depth)
{
	if (depth > 0)
		descend(seconds, depth - 1);
	else
		run(seconds);
	__asm__ volatile(""); /* after the call: it is no tail call */
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
