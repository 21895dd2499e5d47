/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "bpf/netns.h"
#include "drivers/test_run_types.h"
#include "drivers/trigger.h"
#include "plan/mix.h"

/* One program and one input, prepared for BPF_PROG_TEST_RUN. The kernel copies the packet for every
 * call, so a call does not see what earlier calls have written. Repeated runs within one call do:
 * the output of a run is the input of the next. For a syscall program, the kernel writes the
 * changed context back to our memory, so each call gets a fresh copy. */
struct bb_test_call {
	struct bb_target *target;
	const struct bb_test_run_type *type;
	const struct bb_input *input; /* borrowed */
	/* true if results are checked; false for the empty program and for live frames */
	bool is_judged;
	union bpf_attr attr; /* arguments of the system call, in its member `test` */
	/* copy of a syscall program's context, which the kernel changes; NULL for other types */
	uint8_t *ctx;
	/* receives the packet after the run, to check it; NULL if it is not checked */
	uint8_t *out;
};

void bb_test_call__close(struct bb_test_call *s);

/* Makes one call, with its own copy of the arguments, because the kernel writes to them. Returns 0
 * or -errno. -EINTR means that a signal interrupted the call after some of its runs. */
static inline int bb_test_call__fire(const struct bb_test_call *s, union bpf_attr *ret_attr)
{
	if (s->ctx)
		memcpy(s->ctx, s->input->data, s->input->len);
	ret_attr->test = s->attr.test;
	return syscall(__NR_bpf, BPF_PROG_TEST_RUN, ret_attr, sizeof(ret_attr->test)) < 0 ? -errno
											  : 0;
}

/* Makes a call that runs the program once, and checks the result. b->returned receives the return
 * value in words. If the result is wrong, b->void_why says how. Returns 0 or -errno. */
int bb_test_call__fire_checked(const struct bb_test_call *s, struct bb_batch *b);

/* If `retval` is not the expected value, makes the batch void with a message such as "returned 1
 * (XDP_DROP), 2 (XDP_PASS) expected". A void batch keeps its message. */
void bb_test_call__judge_retval(const struct bb_test_call *s, uint32_t retval, struct bb_batch *b);

/* Writes the message for a call that failed with `rc`, and returns its error code. -ENOTSUP means
 * that the kernel has no test run for this type, or does not take such a context. To find the
 * reason, it may run the program again. */
int bb_test_call__say_failed(const struct bb_test_call *s, int rc, struct bb_err *err);

/* Values of `type` and `config` of struct perf_event_attr. */
struct bb_pmu_event {
	uint32_t type;
	uint64_t config;
};

/* Counters of this thread, which count only while it is in the kernel. */
struct bb_pmu {
	int fds[BB_PMU_COUNTERS]; /* -1 if this machine has no such counter */
};

/* slope.c: opens the counters that this machine has. A VM without a PMU has none. */
void bb_pmu__open(const struct bb_pmu_event events[BB_PMU_COUNTERS], struct bb_pmu *ret_pmu);
void bb_pmu__close(struct bb_pmu *p);

/* State of the drive `slope`, with which that of the drive `packets` begins. */
struct bb_slope_state {
	struct bb_drive_state common;
	struct bb_pmu pmu;
	/* 0 for plain test runs. Otherwise the packets come in by the device with this index in the
	 * calling thread's network namespace, and the kernel does with them what the program
	 * returns (BPF_F_TEST_XDP_LIVE_FRAMES). */
	uint32_t ingress_ifindex;
};

/* `s` is the time of a sample, s. */
#define BB_SLOPE_PACE(s)                                                                           \
	{                                                                                          \
		.samples = 480, .turn = 100, .pair_turn = 4, .warmup_first = 100,                  \
		.warmup_turn = 8, .pair_warmup = 4, .sample_s = (s)                                \
	}

/* The drive `packets` uses these functions, too. */
int bb_slope__open(void *state, struct bb_err *err);
int bb_slope__batch(void *slot, uint32_t param, struct bb_batch *b, struct bb_err *err);
void bb_slope__close(void *state);

/* The trigger test-run. A measured XDP program is attached to a device of our own (bpf/netns.h),
 * because the kernel then calls it through the dispatcher. A live program is not attached. */
struct bb_test_run {
	struct bb_trigger_state common;
	struct bb_u32_list mix; /* order of the inputs, for the key `order` */
	/* Position of each program in the mix, at which its next load goes on. */
	struct bb_mix_place {
		const struct bb_variant_spec *variant;
		size_t next;
	} * places;
	size_t n_places;
	/* true if program types that do not take `repeat` are refused */
	bool repeats;
	struct bb_xdp_net xdp; /* devices for XDP programs, opened for the first one */
};

struct bb_test_run_slot {
	struct bb_attached common;
	const struct bb_test_run_type *type;
	/* true if results are checked; false for the empty program */
	bool is_judged;
	size_t place;
	bool attached; /* an XDP program is attached to device `port` */
	size_t port;
};

/* Writes, for example, "a test run on a packet of 64 bytes". */
void bb_test_run__words(const struct bb_input *input, const struct bb_test_prog *prog,
			char *ret_words, size_t size);

/* Runs a loaded program `times` times on an input, and discards the records in its rings. Returns
 * 0, -EINTR, -EINVAL for an input that the type does not take, or another -errno. */
int bb_test_run__times(struct bb_target *target, const struct bb_test_run_type *type,
		       const struct bb_input *input, uint32_t times, struct bb_err *err);

/* Begins a batch: prepares a call with input number `input`, and pins this thread to the CPU. The
 * attribute `cpu` of the system call cannot do that, because most program types refuse it. */
int bb_test_run__aim(const struct bb_attached *attached, uint32_t input,
		     struct bb_test_call *ret_call, struct bb_err *err);
