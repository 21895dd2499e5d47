/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"

/*
 * The runs of a program that we cause by watching it. Reading its counters runs a program that is
 * attached to system calls; a sleep of ours runs one that is attached to context switches.
 *
 * An experiment finds the number of these runs. A window is the time between two readings. Dozens
 * of windows with one more reading or a sleep in them take turns with dozens of windows with a busy
 * wait of the same length. If every window with a reading or sleep has more runs than a window with
 * a busy wait, the additional runs are ours, because nobody else runs a program in every window.
 */
struct bb_own_runs {
	/* true if the program runs too often or too irregularly to tell how many runs are ours */
	bool unclear;
	uint32_t by_read;  /* runs that one bb_stats_reader__info() causes */
	uint32_t by_sleep; /* runs that one nanosleep() causes */
	double ns;         /* median time of a run that a reading causes; NAN if there is none */
};

/* Does the experiment that is described above. Takes microseconds if neither a reading nor a sleep
 * runs the program, otherwise about a millisecond. bpf_stats must be on. Returns 0, or -errno of a
 * reading. */
int bb_own_runs__find(const struct bb_stats_reader *r, struct bb_own_runs *ret_own);

/* Sums over windows, from which bb_own_share__others_ns() computes the time of other processes'
 * runs. For each window we know the number of our runs. The windows with only our runs give the
 * time of one of our runs, which is then subtracted from the other windows. */
struct bb_own_share {
	uint64_t own, own_ns; /* number and time of the runs in windows with only our runs */
	/* in the windows that also have runs of other processes: the number of these runs, the
	 * number of our runs, and the time of all these runs */
	uint64_t others, mixed_own, mixed_ns;
	bool unclear; /* true if a window had fewer runs than we caused */
};

/* Returns how many of the `own` runs that we caused in a window the kernel counted. The kernel
 * counts a run that preempts another run of the program as a recursion miss. If a run was preempted
 * on our CPU, all our runs are recursion misses until the preempted run goes on. */
static inline uint64_t bb_own_runs__left(const struct bb_prog_stats *window, uint64_t own)
{
	return own > window->recursion_misses ? own - window->recursion_misses : 0;
}

/* Adds a window. `window` is the rise of the counters in it, `own` the number of runs that we
 * caused. */
void bb_own_share__add(struct bb_own_share *s, const struct bb_prog_stats *window, uint64_t own);

/* Returns the time of the runs that we did not cause, ns; NAN if there are none, or if they cannot
 * be told from ours. `own_ns`, the time of one of our runs, is used if no window has only our
 * runs. */
double bb_own_share__others_ns(const struct bb_own_share *s, double own_ns);

static inline bool bb_own_runs__any(const struct bb_own_runs *own)
{
	return own->unclear || own->by_read || own->by_sleep;
}
