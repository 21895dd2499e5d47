/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/hook.h"

/* The result of trying a trigger. */
struct bb_tried {
	const struct bb_trigger *trigger;
	uint32_t runs;  /* runs of the program that one firing causes; 0 means none */
	uint32_t fired; /* number of firings */
	double ns;      /* mean time of one firing with one reading of the counters, ns */
	int rc;         /* -errno of the last firing, or of preparing the trigger; 0: it worked */
};

/*
 * The trigger that bb_discover() found for a program. Each trigger is fired a few times while the
 * program is attached. Triggers whose words are in the name of the hook are tried before the
 * others, and cheap triggers before expensive ones. The first trigger that causes one run per
 * firing is taken. If no trigger does, the trigger that causes the fewest runs is taken.
 */
struct bb_discovery {
	const struct bb_trigger *trigger; /* NULL if no trigger makes the program run */
	uint32_t runs_each;               /* runs that one firing causes */
	char ended[200];                  /* why the process that fires ended; "": it did not end */
	/* the triggers that were tried, in the order of trying; owned */
	struct bb_tried *tried;
	size_t n_tried;
};

/*
 * Finds a trigger for the program of `reader`, which is attached at `point` meanwhile. bpf_stats
 * must be on. `hook` is an open hook for `point`; NULL means that one is opened. If `all`, tries
 * all triggers; otherwise stops at the first trigger that causes one run per firing. Returns 0,
 * also if no trigger works; -ENOTSUP with the reason if the program cannot be attached; or another
 * -errno. Free the result by bb_discovery__done().
 */
int bb_discover(const struct bb_fire_site *site, const struct bb_attach_point *point,
		const struct bb_hook *hook, const struct bb_stats_reader *reader, bool all,
		struct bb_discovery *ret_discovery, struct bb_err *err);
void bb_discovery__done(struct bb_discovery *d);

/* Returns the smallest of the numbers runs[n], because other processes can only add runs. Each is
 * the number of runs of the program in one window, in which the trigger fired once. Returns 0 if
 * fewer than a quarter of the windows have the smallest number, or if n is 0. */
uint64_t bb_fewest_runs(const uint64_t *runs, size_t n);

/*
 * Returns the trigger among tried[n] that causes the fewest runs per firing; NULL if no trigger
 * made the program run. If several triggers cause one run, returns the first of them, because
 * triggers are tried in the order of preference. If several triggers cause the same number of runs,
 * more than one, and have the same distance to the name of the hook (bb_trigger__distance()),
 * returns the fastest of them.
 */
const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n);
