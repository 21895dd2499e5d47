/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_OWN_RUNS_H
#define BB_BPF_OWN_RUNS_H

#include "base/std.h"
#include "bpf/prog_stats.h"

/*
 * The runs of a program that its observer causes: a program on system calls runs when its own
 * counters are read, one on context switches when the observer sleeps. Trials find out how many:
 * the counters are read directly after the last reading, and again with one more reading (or a
 * sleep) between, dozens of times in turns. Runs that every window has are ours, as nobody else
 * runs a program every few hundred nanoseconds.
 */
struct bb_own_runs {
	bool unclear;      /* the program runs too often, or too unevenly, for us to tell */
	uint32_t by_read;  /* runs that one bb_stats_reader__info() causes */
	uint32_t by_sleep; /* and one nanosleep() */
	double ns;         /* time of a run that a reading causes: median; NAN: there are none */
};

/*
 * Takes microseconds for a program that does not run by itself meanwhile, else about a millisecond.
 * bpf_stats must be on. 0, or -errno of a reading.
 */
int bb_own_runs__find(const struct bb_stats_reader *r, struct bb_own_runs *ret_own);

/*
 * Windows of which it is known how many of the runs in them are ours. Windows with ours alone give
 * the time of ours; it is subtracted from the time of the other windows.
 */
struct bb_own_share {
	uint64_t own, own_ns;                 /* in windows with ours alone */
	uint64_t others, mixed_own, mixed_ns; /* in the others */
	bool unclear;                         /* a window had fewer runs than ours */
};

/*
 * Of `own` runs that we caused in a window, those that the kernel counted: it misses one that has
 * preempted another run of the program, and while that waits for our CPU, all of ours.
 */
static inline uint64_t bb_own_runs__left(const struct bb_prog_stats *window, uint64_t own)
{
	return own > window->recursion_misses ? own - window->recursion_misses : 0;
}

/* Add a window: the rise of the counters in it, and the number of runs that we caused. */
void bb_own_share__add(struct bb_own_share *s, const struct bb_prog_stats *window, uint64_t own);

/* Time of the runs that are not ours, ns; NAN: none, or ours cannot be told from them. `own_ns`:
 * the time of one of ours where no window had ours alone. */
double bb_own_share__others_ns(const struct bb_own_share *s, double own_ns);

static inline bool bb_own_runs__any(const struct bb_own_runs *own)
{
	return own->unclear || own->by_read || own->by_sleep;
}

#endif
