/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_STORE_H
#define BB_RUN_SELFTEST_STORE_H

#include <stddef.h>

#include "base/err.h"
#include "report/report.h"
#include "run/selftest.h"
#include "stats/loads.h"

/* Plain runs of several self-tests of one machine together: program by program, as each self-test
 * found it on its own occasion (stats/loads.h). Zeroed: empty. */
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

/* Self-tests are stored in RESULTS/selftest/ID.json: the counts, every estimate, and the machine
 * they are true of. */

/* `head` lends its id, time, command and fingerprint. */
int bb_selftest__write(const char *results, const struct bb_report *head,
		       const struct bb_selftest *t, const struct bb_selftest_opts *opts,
		       struct bb_err *err);

/*
 * The resolution (a share) by the newest stored self-test of a machine like `fp`. 0, -ENOENT
 * without a message when there is none, or another -errno.
 */
int bb_selftest__read_resolution(const char *results, const struct bb_fingerprint *fp,
				 double *ret_floor, char **ret_id, struct bb_err *err);

/*
 * By how much plain runs differ from their mean, by the newest BB_SELFTESTS_POOLED stored
 * self-tests of a machine like `fp`, with `now` (NULL: none) one of them. 0; -ENOENT without a
 * message when there is none, or another -errno.
 */
#define BB_SELFTESTS_POOLED 12
int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      const struct bb_repeat *now, struct bb_between *ret_between,
			      struct bb_err *err);

#endif
