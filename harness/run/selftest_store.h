/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_STORE_H
#define BB_RUN_SELFTEST_STORE_H

#include "base/err.h"
#include "report/report.h"
#include "run/selftest.h"
#include "run/selftest_pool.h"

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
