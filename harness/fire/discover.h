/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_DISCOVER_H
#define BB_FIRE_DISCOVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bpf/prog_stats.h"
#include "fire/attach_point.h"
#include "fire/choose.h"
#include "fire/firer.h"
#include "fire/hook.h"

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
int bb_discover(const struct bb_fire_place *place, const struct bb_attach_point *point,
		const struct bb_hook *hook, int prog_fd, const struct bb_stats_reader *reader,
		bool all, struct bb_discovery *ret_discovery, struct bb_err *err);
void bb_discovery__done(struct bb_discovery *d);

#endif
