/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_REFERENCES_H
#define BB_RUN_REFERENCES_H

#include "base/err.h"
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

#endif
