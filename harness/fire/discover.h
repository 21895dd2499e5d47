/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/hook.h"

/* The result of trying a trigger. */
struct bb_tried {
	const struct bb_trigger *trigger;
	uint32_t runs;  /* runs of the program per firing; 0 means none */
	uint32_t fired; /* number of firings */
	double ns;      /* mean time of a firing together with a reading of the counters, ns */
	int rc;         /* -errno of the last firing, or of preparing the trigger; 0: no error */
};

/*
 * The trigger that makes a program run, and the runs per firing, as bb_discover() found them. Each
 * trigger is fired a few times while the program is attached. Triggers whose words are in the
 * hook's name come first, and cheap ones before expensive ones. A trigger with one run per firing
 * wins. If there is none, the trigger with the fewest runs wins.
 */
struct bb_discovery {
	const struct bb_trigger *trigger; /* NULL if none makes it run */
	uint32_t runs_each;
	char ended[200]; /* message if a firing process ended; else "" */
	/* the triggers that were tried, in the order of trying; owned */
	struct bb_tried *tried;
	size_t n_tried;
};

/*
 * Finds a trigger for the program `prog_fd`, which is attached at `point` meanwhile. `reader` reads
 * that program's counters, and bpf_stats must be on. `hook`: the open hook of the point; NULL means
 * open one. `all`: try the other triggers even after one with a single run per firing was found.
 * Returns 0 also if no trigger works; -ENOTSUP with the reason if the program cannot be attached.
 */
int bb_discover(const struct bb_fire_site *site, const struct bb_attach_point *point,
		const struct bb_hook *hook, int prog_fd, const struct bb_stats_reader *reader,
		bool all, struct bb_discovery *ret_discovery, struct bb_err *err);
void bb_discovery__done(struct bb_discovery *d);

/* runs[n] has the number of the program's runs in each of n windows; in each window, the trigger
 * fired once. Returns the smallest of these numbers, because other processes can only add runs.
 * Returns 0 if fewer than a quarter of the windows have that number, or if n is 0. */
uint64_t bb_fewest_runs(const uint64_t *runs, size_t n);

/*
 * Returns the trigger with the fewest runs per firing. If several triggers have one run, returns
 * the first of them, because the best triggers are tried first. If several have the same larger
 * number of runs and the same distance to the hook's name (bb_trigger__distance()), returns the
 * cheapest. Returns NULL if none made the program run.
 */
const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n);
