/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bpf/prog_stats.h"

/*
 * The runs of a program that we cause by watching it. Reading its counters runs a program that is
 * attached to system calls. A sleep of ours runs one that is attached to context switches.
 *
 * An experiment finds their number. A window is the time between two readings. Dozens of windows
 * with one more reading or a sleep take turns with dozens of windows with an equally long busy
 * wait. If every window with a reading or sleep has more runs than the quietest window with a busy
 * wait, the difference is ours, because nobody else runs a program in every window.
 */
struct bb_own_runs {
	/* true if the program runs too often or too irregularly to tell which runs are ours */
	bool unclear;
	uint32_t by_read;  /* runs that one bb_stats_reader__info() causes */
	uint32_t by_sleep; /* runs that one nanosleep() causes */
	double ns;         /* median time of a run that a reading causes; NAN if unknown */
};

/* Does the experiment. It takes microseconds if neither a reading nor a sleep runs the program,
 * else about a millisecond. Returns 0, or -errno of a reading. */
int bb_own_runs__find(const struct bb_stats_reader *r, struct bb_own_runs *ret_own);

/* Sums over windows, in which we know the number of our runs. The windows with only our runs give
 * the time of one of our runs. bb_own_share__others_ns() subtracts it from the other windows. */
struct bb_own_share {
	uint64_t own, own_ns; /* number and time of the runs in windows with only our runs */
	/* in windows that also have other processes' runs: number of these, number of ours, and
	 * time of all */
	uint64_t others, mixed_own, mixed_ns;
	bool unclear; /* true if a window had fewer runs than we caused */
};

/* Returns how many of our `own` runs in a window are in run_cnt. A run that preempts another run of
 * the program is a recursion miss instead. If a run was preempted on our CPU, all our runs are
 * recursion misses until it goes on. */
static inline uint64_t bb_own_runs__left(const struct bb_prog_stats *window, uint64_t own)
{
	return own > window->recursion_misses ? own - window->recursion_misses : 0;
}

/* Adds a window in which the counters rose by `window` and we caused `own` runs. */
void bb_own_share__add(struct bb_own_share *s, const struct bb_prog_stats *window, uint64_t own);

/* Returns the time of the runs that we did not cause, ns, or NAN if unknown. `own_ns`, the time of
 * one of our runs, is used only if no window has our runs alone. */
double bb_own_share__others_ns(const struct bb_own_share *s, double own_ns);

static inline bool bb_own_runs__any(const struct bb_own_runs *own)
{
	return own->unclear || own->by_read || own->by_sleep;
}
