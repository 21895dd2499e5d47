/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_LIVE_H
#define BB_RUN_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/live_row.h"

/*
 * All loaded programs, watched. Their counters are read in sweeps over descriptors that are held
 * open; how often, follows the load: as seldom as nearly every window still holds a single run, and
 * where none would, in bursts that take a quarter of a CPU at the most. Four times a second the
 * descriptors are let go and taken up again, so that a program whose owner is done with it can go:
 * it is kept a quarter of a second too long, at the most.
 *
 * bpf_stats is the caller's: the counters stand still without.
 */
struct bb_live_watch;

/* Which programs are wanted? It is asked again at each look at the list, until the answer is yes.
 */
struct bb_live_filter {
	bool (*wants)(void *arg, uint32_t id); /* NULL: all */
	void *arg;
};

/* The programs that are loaded now. -EPERM with the remedy; -ENOMEM. */
int bb_live_watch__open(const struct bb_live_filter *filter, struct bb_live_watch **ret_live,
			struct bb_err *err);
void bb_live_watch__close(struct bb_live_watch *live);

/* Watch for that long; -EINTR when a signal asks us to stop. Programs come and go meanwhile. */
int bb_live_watch__wait(struct bb_live_watch *live, double seconds, struct bb_err *err);

/*
 * The snapshot of the time since the last one, a row for each program, to be freed; programs that
 * are gone are in it once. The next period begins.
 */
int bb_live_watch__snapshot(struct bb_live_watch *live, struct bb_live_row **ret_rows,
			    size_t *ret_n, struct bb_err *err);

/*
 * How long to wait before the next sweep, ns, after one whose windows were all of a single run or
 * (`shared`) not; 0: do not wait. Pure.
 */
uint64_t bb_live_next_pause(uint64_t pause_ns, bool shared);

#endif
