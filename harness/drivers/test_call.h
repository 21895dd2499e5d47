/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TEST_CALL_H
#define BB_DRIVERS_TEST_CALL_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "bpf/target.h"
#include "drivers/test_run_types.h"
#include "plan/input.h"

/*
 * One program and one input, ready for BPF_PROG_TEST_RUN. A packet is copied into the kernel for
 * every call, so no call sees the writes of the one before it; repeats within a call do: there the
 * output of a run is the input of the next. A syscall program's context is copied back, which is
 * why each call is given a fresh copy.
 */
struct bb_test_call {
	struct bb_target *target; /* borrowed */
	const struct bb_test_run_type *type;
	const struct bb_input *input; /* borrowed */
	/* must the run give the result that the input expects? A floor need not: it has its own */
	bool is_judged;
	/* as it is passed, but for the results; only .test is set */
	union bpf_attr attr;
	/* of a syscall program: our copy, which the kernel writes to; NULL elsewhere */
	uint8_t *ctx;
	uint8_t *out; /* room for the packet after the run; NULL: not asked for */
};

/* `prog_fd` is fired: the target's program or a clone of it. 0 or -ENOMEM. */
int bb_test_call__open(struct bb_target *target, int prog_fd, const struct bb_test_run_type *type,
		       const struct bb_input *input, bool is_judged, struct bb_test_call *ret_shot);
void bb_test_call__close(struct bb_test_call *s);

/*
 * One call; ret_attr->test has its results. The kernel reads all of the attributes and writes some:
 * they are set anew each time. 0 or -errno; -EINTR: broken off by a signal, some of the runs were
 * made.
 */
static inline int bb_test_call__fire(const struct bb_test_call *s, union bpf_attr *ret_attr)
{
	if (s->ctx)
		memcpy(s->ctx, s->input->data, s->input->len);
	ret_attr->test = s->attr.test;
	return syscall(__NR_bpf, BPF_PROG_TEST_RUN, ret_attr, sizeof(ret_attr->test)) < 0 ? -errno
											  : 0;
}

/* One call of one run whose output is looked at. ret_why[size] stays as it is when all is as the
 * input expects. */
int bb_test_call__fire_checked(const struct bb_test_call *s, char *ret_why, size_t size);

/* "returned 1 (XDP_DROP), 2 (XDP_PASS) expected" into why[size], unless it is as expected or
 * something is said there already. */
void bb_test_call__judge_retval(const struct bb_test_call *s, uint32_t retval, char *why,
				size_t size);

/*
 * How a call failed, for people; returns the error's code: -ENOTSUP where the kernel has no test
 * run of the type, or none with such a context, for which the program may be run again.
 */
int bb_test_call__say_failed(const struct bb_test_call *s, int rc, struct bb_err *err);

#endif
