/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_ECDF_H
#define BB_JUDGE_ECDF_H

#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

/* The distribution of a case's valid samples, thinned for a picture. */
struct bb_ecdf {
	/* ns[n] ascending; share[n] of the samples took at most that long */
	double *ns, *share;
	size_t n;
	uint64_t samples;
};

/*
 * At most `points` of the curve (100 or more) as they are, only fewer: one that is neither a step
 * of share nor a step on the log axis away from the last one taken is left out. Half of the points
 * may thus go to the tail, where hardly any of the share is. 0 or -ENOMEM; empty when there are no
 * valid samples.
 */
int bb_ecdf__make(const struct bb_case *c, size_t points, struct bb_ecdf *ret_ecdf);
void bb_ecdf__done(struct bb_ecdf *e);

#endif
