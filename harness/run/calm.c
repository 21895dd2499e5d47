/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/calm.h"

#include <math.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"
#include "base/deadline.h"

#define STEPS 4000u    /* 2 us */
#define LOOKS 3u       /* the least of them: an interrupt hits one */
#define CALM 1.04      /* times the best; while it was calm the least of three was below 1.01 */
#define NAP_S 2e-3     /* between two looks */
#define FIRST_LOOKS 20 /* to know the best */

static volatile uint64_t sink;

/* Six additions a step that do not wait for each other: whoever shares the core takes turns. A
 * chain of them, or branches that become conditional moves, would notice nothing. */
static __attribute__((noinline)) double work_ns(void)
{
	uint64_t began_ns = bb_now_ns(), a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;

	for (uint64_t i = 0; i < STEPS; i++) {
		a += i;
		b ^= i;
		c += i;
		d ^= i;
		e += i;
		f ^= i;
		__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
	}
	sink = a + b + c + d + e + f;
	return (double)(bb_now_ns() - began_ns);
}

static double look_ns(struct bb_calm *c)
{
	double ns = INFINITY;

	for (unsigned int i = 0; i < LOOKS; i++)
		ns = fmin(ns, work_ns());
	c->best_ns = fmin(c->best_ns, ns);
	return ns;
}

static void nap(struct bb_calm *c)
{
	struct timespec t = {.tv_nsec = (long)(NAP_S * 1e9)};
	uint64_t began_ns = bb_now_ns();

	nanosleep(&t, NULL);
	c->waited_s += bb_seconds_since(began_ns);
}

void bb_calm__begin(struct bb_calm *c, double most_s)
{
	*c = (struct bb_calm){.best_ns = INFINITY, .most_s = most_s};
	for (unsigned int i = 0; i < FIRST_LOOKS && c->waited_s < most_s && !bb_must_end(); i++) {
		look_ns(c);
		nap(c);
	}
}

bool bb_calm__wait(struct bb_calm *c)
{
	bool is_calm;

	c->turns++;
	while (!(is_calm = look_ns(c) <= CALM * c->best_ns) && c->waited_s < c->most_s &&
	       !bb_must_end())
		nap(c);
	c->late += !is_calm;
	return is_calm;
}
