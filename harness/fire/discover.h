/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fire/hook.h"

struct bb_tried {
	const struct bb_trigger *trigger;
	uint32_t runs; /* runs of the program that one firing causes */
	uint32_t fired;
	double ns; /* mean time of one firing with one reading of the counters */
	int rc;    /* 0, or -errno of the last firing or of preparing the trigger */
};

/* The trigger that bb_discover() found. It fires each trigger a few times while the program is
 * attached. It takes the first one that causes one run per firing, or else the one that causes the
 * fewest runs. */
struct bb_discovery {
	const struct bb_trigger *trigger; /* NULL if no trigger makes the program run */
	uint32_t runs_each;               /* runs that one firing causes */
	char ended[200];                  /* why the process that fires ended; "" if it did not */
	/* in the order of trying, owned */
	struct bb_tried *tried;
	size_t n_tried;
};

/* Finds a trigger for the program of `reader`, which is attached at `point` meanwhile. bpf_stats
 * must be on. `hook` is an open hook for `point`, or NULL. With `all`, tries all triggers even
 * after one has worked. Returns 0 also if no trigger works. Returns -ENOTSUP with the reason if the
 * program cannot be attached. */
int bb_discover(const struct bb_fire_site *site, const struct bb_attach_point *point,
		const struct bb_hook *hook, const struct bb_stats_reader *reader, bool all,
		struct bb_discovery *ret_discovery, struct bb_err *err);
void bb_discovery__done(struct bb_discovery *d);

/* runs[n] are a program's runs in windows in which a trigger fired once. Returns the smallest
 * number, because other processes can only add runs. Returns 0 if fewer than a quarter of the
 * windows have this number. */
uint64_t bb_fewest_runs(const uint64_t *runs, size_t n);

/* Returns the trigger that causes the fewest runs per firing, or NULL if none made the program run.
 * Of several triggers with one run, returns the first. Of several with an equal, higher number and
 * an equal distance to the hook's name (bb_trigger__distance()), returns the fastest. */
const struct bb_tried *bb_choose(const struct bb_attach_point *point, const struct bb_tried *tried,
				 size_t n);
