/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_DISCOVER_H
#define BB_FIRE_DISCOVER_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/prog_stats.h"
#include "fire/firer.h"
#include "fire/hook.h"

/* The result of firing a trigger. */
struct bb_tried {
	const struct bb_trigger *trigger;
	uint32_t runs;  /* of the program, by one firing; 0: none */
	uint32_t fired; /* how often */
	double ns;      /* the time of a firing with a reading of the counters */
	int rc;         /* -errno: it cannot be fired here */
};

/*
 * Which trigger makes a program run, and how often: each is fired a few times while the program is
 * attached, those first whose words stand in the hook's name, and among those the cheapest. One run
 * a firing wins, else the smallest number of runs that is the same for most firings.
 */
struct bb_discovery {
	const struct bb_trigger *trigger; /* NULL: none makes it run */
	uint32_t runs_each;
	char ended[200]; /* the program ended a process that fired: which trigger; "" */
	/* all that were tried, in that order */
	struct bb_tried *tried;
	size_t n_tried;
};

/*
 * The program `prog_fd`, which `reader` is of, is attached at `point` meanwhile; bpf_stats is on.
 * `hook`: that of the point, if it is open (NULL: it is opened). `all`: go on when one is found. 0,
 * also when none does; -ENOTSUP with the reason: the program cannot be attached there.
 */
int bb_discover(const struct bb_fire_site *site, const struct bb_attach_point *point,
		const struct bb_hook *hook, int prog_fd, const struct bb_stats_reader *reader,
		bool all, struct bb_discovery *ret_discovery, struct bb_err *err);
void bb_discovery__done(struct bb_discovery *d);

/*
 * Runs of the program in each of n windows with one firing: the fewest, as others can only add to
 * them; 0: less than a quarter of the windows have as few, or there are none.
 */
uint64_t bb_fewest_runs(const uint64_t *runs, size_t n);

/*
 * The one with the fewest runs; of those with one, the first, as they are tried in the order in
 * which they are wanted; of others that are as near to the hook's name, the cheapest. NULL: none
 * made it run.
 */
const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n);

#endif
