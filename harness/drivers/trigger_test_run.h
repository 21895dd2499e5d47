/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TRIGGER_TEST_RUN_H
#define BB_DRIVERS_TRIGGER_TEST_RUN_H

#include <linux/bpf.h>
#include <sys/syscall.h>

#include "base/err.h"
#include "base/std.h"
#include "bpf/target.h"
#include "bpf/netns.h"
#include "drivers/test_run_types.h"
#include "drivers/trigger.h"
#include "plan/scenario.h"

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

/*
 * The trigger by BPF_PROG_TEST_RUN. XDP programs are attached to a device of our own meanwhile
 * (bpf/netns.h), so that they are called as in production; up to 48 of them share the
 * dispatcher, a binary search over their addresses, which is at most a compare more a doubling. A
 * live program is left as it is.
 */
struct bb_test_run {
	struct bb_trigger_state common;
	bool repeats;          /* slope: needs types that take `repeat` */
	struct bb_pmu pmu;     /* open if it repeats: over many runs there is something to count */
	struct bb_xdp_net xdp; /* opened when the first XDP program comes */
};

struct bb_test_run_slot {
	struct bb_attached common;
	const struct bb_test_run_type *type;
	bool is_judged; /* runs must give the results that inputs expect: it is no floor */
	bool attached;  /* XDP: to `port` */
	size_t port;
};

/* "a test run on a packet of 64 bytes" */
void bb_test_run__words(const struct bb_input *input, const struct bb_test_prog *prog,
			char *ret_words, size_t size);

/* A batch's beginning: pinned to the CPU (`cpu` of the call is refused by most types), the input of
 * that index ready. */
int bb_test_run__aim(const struct bb_test_run_slot *slot, uint32_t input,
		     struct bb_test_call *ret_call, struct bb_err *err);

#endif
