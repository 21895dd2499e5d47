/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/references.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "bpf/target.h"
#include "drivers/fit_line.h"
#include "stats/quantile.h"

#define LINES 5u       /* the median of so many */
#define FRAME_BYTES 64 /* what a test run of a socket filter wants at the least is 14 */

/*
 * Runs of the longer calls: 10 to 60 us, so that the interrupts of somebody who samples this CPU at
 * 10 kHz hit a minority of them. Of 84 us each was hit, and the instructions cost 194 ns for 167,
 * while programs, whose runs are timed one by one, cost what they cost.
 */
static const unsigned int runs_of[BB_N_REFERENCES] = {
	[BB_REFERENCE_INSTRUCTIONS] = 64,
	[BB_REFERENCE_MEMORY] = 8,
	[BB_REFERENCE_WAKEUP] = 8,
};

struct bb_references {
	struct bb_target *target[BB_N_REFERENCES];
};

int bb_references__open(const char *object_dir, struct bb_references **ret_references,
			struct bb_err *err)
{
	struct bb_references *r = calloc(1, sizeof(*r));
	struct bb_err unsaid = {0};
	char *path = NULL;
	int rc = 0;

	if (!r || asprintf(&path, "%s/references.bpf.o", object_dir) < 0) {
		free(r);
		return bb_fail_nomem(err);
	}
	for (int i = 0; !rc && i < BB_N_REFERENCES; i++) {
		rc = bb_must_end_why();
		if (!rc)
			rc = bb_target__open(path, bb_reference_name((enum bb_reference)i), NULL, 0,
					     &r->target[i], err);
		if (!rc && bb_target__load(r->target[i], &unsaid)) {
			bb_target__free(r->target[i]); /* Linux 5.10 has no array as large */
			r->target[i] = NULL;
			rc = bb_must_end_why();
		}
	}
	free(path);
	if (rc) {
		bb_references__free(r);
		return rc;
	}
	*ret_references = r;
	return 0;
}

/* By our clock, as the kernel's own time is in whole ns a run. */
static int time_call(void *arg, uint32_t runs, double *ret_ns)
{
	static const uint8_t frame[FRAME_BYTES];
	LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = frame, .data_size_in = sizeof(frame),
		    .repeat = (int)runs);
	struct bb_target *t = arg;
	uint64_t began_ns = bb_now_ns();
	int rc = bpf_prog_test_run_opts(bb_target__prog_fd(t), &opts);

	*ret_ns = (double)(bb_now_ns() - began_ns);
	bb_target__drain(t, false);
	return rc;
}

void bb_references__measure(struct bb_references *r, double ret_ns[BB_N_REFERENCES])
{
	for (int i = 0; i < BB_N_REFERENCES; i++) {
		const struct bb_fit_timer timer = {time_call, r ? r->target[i] : NULL};
		struct bb_fitted_line line;
		double ns[LINES];
		size_t n = 0;

		for (unsigned int k = 0; timer.arg && k < LINES && !bb_must_end(); k++)
			if (!bb_fit_line__take(&timer, runs_of[i], &line) && line.slope_ns > 0)
				ns[n++] = line.slope_ns;
		ret_ns[i] = n ? bb_median(ns, n) : (double)NAN;
	}
}

void bb_references__free(struct bb_references *r)
{
	for (int i = 0; r && i < BB_N_REFERENCES; i++)
		bb_target__free(r->target[i]);
	free(r);
}
