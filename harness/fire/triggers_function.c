/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trigger for programs of functions that are put on a function of ours. */
#include "fire/own_function.h"
#include "fire/trigger.h"

static int fire_own_function(struct bb_firing *f)
{
	const long *a = f->point->args;

	bb_own_function((uint64_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint64_t)a[3],
			(uint64_t)a[4], (uint64_t)a[5], (uint64_t)a[6]);
	return 0;
}

const struct bb_trigger bb_triggers_function[] = {
	{.name = "own-call",
	 .doc = "call a function of bpfbench in the place of the one that the program is for",
	 .words = "",
	 .at = BB_AT_OWN_FUNCTION,
	 .fire = fire_own_function},
	{0},
};
