/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_POOL_H
#define BB_RUN_SELFTEST_POOL_H

#include <stddef.h>

#include "run/selftest_plain.h"
#include "stats/pooled_spread.h"

/* Plain runs of several self-tests of one machine together: program by program, as each self-test
 * found it on its own occasion (stats/pooled_spread.h). Zeroed: empty. */
struct bb_pooled_program {
	char *program;
	enum bb_repeat_class class;
	struct bb_spread *spreads[BB_N_REPEATS]; /* [n]: of the ln of the figure, by self-test */
	size_t n[BB_N_REPEATS];
	struct bb_repeat_list offsets[BB_N_REPEATS]; /* of all runs of all self-tests */
};

struct bb_selftest_pool {
	struct bb_pooled_program *v;
	size_t n;
};

/* By how much plain runs differ from their mean: 95 % half widths in ln. */
struct bb_between {
	/* of the worst program of the class; a half width of NAN: not known */
	struct bb_pooled_spread of[BB_N_REPEAT_CLASSES][BB_N_REPEATS];
	size_t n_selftests;
};

/* One program of one self-test: ln[n] by run; fewer than BB_REPEAT_LEAST add nothing. 0 or -ENOMEM.
 */
int bb_selftest_pool__add(struct bb_selftest_pool *p, const char *program,
			  enum bb_repeat_class class, enum bb_repeat_of of, const double *ln,
			  size_t n);
/* All programs of a self-test that has just been made. 0 or -ENOMEM. */
int bb_selftest_pool__add_repeat(struct bb_selftest_pool *p, const struct bb_repeat *r);

struct bb_between bb_selftest_pool__between(const struct bb_selftest_pool *p);
void bb_selftest_pool__done(struct bb_selftest_pool *p);

#endif
