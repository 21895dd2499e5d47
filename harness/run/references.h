/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_REFERENCES_H
#define BB_RUN_REFERENCES_H

#include "base/err.h"
#include "base/std.h"
#include "core/metric.h"

/*
 * The references of a run (core/metric.h): loaded once, and measured by test runs before the
 * turns of every drive in every round.
 */
struct bb_references;

/* `object_dir` has references.bpf.o. -ENOTSUP where the kernel lacks what they need; other -errno.
 */
int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err);

/* ns a piece of each now, the cost of one more of it (drivers/fit_line.h); NAN: it failed. Some 4
 * ms. NULL: all NAN. */
void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES]);

void bb_references__free(struct bb_references *r); /* takes NULL */

/*
 * Is this CPU as fast as it was? A fixed piece of work in user space, of several instructions a
 * cycle, so that it slows down when another machine of the host runs on the same core (the host's
 * SMT, which no VM can see, nor does steal show it: on an AMD EPYC VM a loop took 1.5 to 2.1 times
 * as long, for 40 ms to a second) or when the clock does. A turn of a program waits until the CPU
 * is calm, and after waiting long enough it is measured all the same.
 */
struct bb_calm {
	double best_ns;           /* least that the work has ever taken here */
	double waited_s, most_s;  /* in this run, and at the most */
	unsigned int turns, late; /* turns; those that were not calm in the end */
};

/* A run that may wait `most_s` in all. */
void bb_calm__begin(struct bb_calm *c, double most_s);

/* Wait until it is calm. False: it is not, and the time for waiting or the deadline is over. */
bool bb_calm__wait(struct bb_calm *c);

#endif
