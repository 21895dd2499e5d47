/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "bpf/netns.h"
#include "drivers/test_run_types.h"
#include "drivers/trigger.h"
#include "plan/mix.h"

/*
 * One program and one input, ready for BPF_PROG_TEST_RUN. The kernel copies the packet for every
 * call, so no call sees the writes of an earlier call. Repeated runs within one call see them: the
 * output of a run is the input of the next. The kernel copies the context of a syscall program
 * back, so each call gets a fresh copy.
 */
struct bb_test_call {
	struct bb_target *target; /* borrowed */
	const struct bb_test_run_type *type;
	const struct bb_input *input; /* borrowed */
	/* the run must give the result that the input expects; false for the floor and live frames
	 */
	bool is_judged;
	/* The attributes without the results; only .test is set. */
	union bpf_attr attr;
	/* Our copy of a syscall program's context, which the kernel writes to; NULL for others. */
	uint8_t *ctx;
	uint8_t *out; /* receives the packet after the run; NULL: not needed */
};

void bb_test_call__close(struct bb_test_call *s);

/* Makes one call; ret_attr->test receives its results. The attributes are set again for each call,
 * because the kernel writes to them. 0 or -errno. -EINTR: a signal interrupted the call after some
 * of the runs. */
static inline int bb_test_call__fire(const struct bb_test_call *s, union bpf_attr *ret_attr)
{
	if (s->ctx)
		memcpy(s->ctx, s->input->data, s->input->len);
	ret_attr->test = s->attr.test;
	return syscall(__NR_bpf, BPF_PROG_TEST_RUN, ret_attr, sizeof(ret_attr->test)) < 0 ? -errno
											  : 0;
}

/* Makes one call of one run and checks its output. Writes b->returned, and into b->void_why what
 * differs from the expected result, if anything. */
int bb_test_call__fire_checked(const struct bb_test_call *s, struct bb_batch *b);

/* Writes "returned 1 (XDP_DROP), 2 (XDP_PASS) expected" into why[size] if the value is not the
 * expected one and why[] is empty. */
void bb_test_call__judge_retval(const struct bb_test_call *s, uint32_t retval, char *why,
				size_t size);

/* Writes the message for a failed call and returns its error code. -ENOTSUP: the kernel has no test
 * run for the type, or does not take such a context. To find out, this function may run the program
 * again. */
int bb_test_call__say_failed(const struct bb_test_call *s, int rc, struct bb_err *err);

/* An event that a hardware counter counts, as in perf_event_attr. */
struct bb_pmu_event {
	uint32_t type; /* PERF_TYPE_* */
	uint64_t config;
};

/* Hardware counters of this thread. They count only while it is in the kernel. */
struct bb_pmu {
	int fds[BB_PMU_COUNTERS]; /* -1: this machine has no such counter */
};

/* slope.c: opens the counters that this machine has. A VM without a PMU has none. */
void bb_pmu__open(const struct bb_pmu_event events[BB_PMU_COUNTERS], struct bb_pmu *ret_pmu);
void bb_pmu__close(struct bb_pmu *p);

/* The open drive `slope`; also the first member of the state of the drive `packets`. */
struct bb_slope_state {
	struct bb_drive_state common;
	struct bb_pmu pmu;
	/* Device of the calling thread's network namespace by which the packets come in, if the
	 * kernel does with them what the program returns (BPF_F_TEST_XDP_LIVE_FRAMES). 0: plain
	 * test runs. */
	uint32_t ingress_ifindex;
};

/* The drive `packets` has the pace of the drive `slope`, apart from the time of a sample, s. */
#define BB_SLOPE_PACE(s)                                                                           \
	{                                                                                          \
		.samples = 480, .turn = 100, .pair_turn = 4, .warmup_first = 100,                  \
		.warmup_turn = 8, .pair_warmup = 4, .sample_s = (s)                                \
	}

/* open(), batch() and close() of the drive `slope` (struct bb_driver). The drive `packets` calls
 * them, too. */
int bb_slope__open(void *state, struct bb_err *err);
int bb_slope__batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err);
void bb_slope__close(void *state);

/*
 * The trigger that uses BPF_PROG_TEST_RUN. An XDP program is attached to a device of our own while
 * it is measured (bpf/netns.h), so that the kernel calls it as in production. Up to 48 of them
 * share the dispatcher, a binary search over their addresses: twice as many programs cost at most
 * one more comparison. A live program is not attached.
 */
struct bb_test_run {
	struct bb_trigger_state common;
	struct bb_mix mix; /* the mix of a drive with an order */
	/* The place of each program in the mix: a load goes on where the one before it ended. */
	struct bb_mix_place {
		const struct bb_variant_spec *variant;
		size_t next;
	} * places;
	size_t n_places;
	bool repeats;          /* for slope: only program types that take `repeat` */
	struct bb_xdp_net xdp; /* opened for the first XDP program */
};

struct bb_test_run_slot {
	struct bb_attached common;
	const struct bb_test_run_type *type;
	bool is_judged; /* runs must give the results that inputs expect; false for the floor */
	size_t place;   /* index in the places of the mix */
	bool attached;  /* XDP: the program is attached to device `port` */
	size_t port;
};

/* Writes, for example, "a test run on a packet of 64 bytes". */
void bb_test_run__words(const struct bb_input *input, const struct bb_test_prog *prog,
			char *ret_words, size_t size);

/* Runs a loaded program `times` times on an input, and discards the records that it writes. Returns
 * 0; -EINTR if bpfbench must end; -EINVAL for an input that the type does not take; or another
 * -errno. */
int bb_test_run__times(struct bb_target *target, const struct bb_test_run_type *type,
		       const struct bb_input *input, uint32_t times, struct bb_err *err);

/* Begins a batch: pins this thread to the CPU and prepares a call with the input of index
 * `input`. (Most program types refuse the attribute `cpu`.) */
int bb_test_run__aim(const struct bb_attached *attached, uint32_t input,
		     struct bb_test_call *ret_call, struct bb_err *err);
