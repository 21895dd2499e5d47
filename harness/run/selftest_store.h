/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_RUN_SELFTEST_STORE_H
#define BB_RUN_SELFTEST_STORE_H

#include "base/err.h"
#include "report/report.h"
#include "run/selftest.h"

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
 * How far plain runs differ from their mean, as 95 % half widths in ln of `runs` runs, by the
 * newest stored self-test of a machine like `fp` that says so. 0; -ENOENT without a message when
 * there is none, or another -errno.
 */
struct bb_between {
	double of[BB_N_REPEAT_CLASSES][BB_N_REPEATS]; /* NAN: not known */
	uint32_t runs;                                /* >= BB_REPEAT_LEAST */
};
int bb_selftest__read_between(const char *results, const struct bb_fingerprint *fp,
			      struct bb_between *ret_between, char **ret_id, struct bb_err *err);

#endif
