/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * step by test run: the kernel runs the program once (BPF_PROG_TEST_RUN, repeat 1) on an input of ours, and its
 * counters are read after each call: a per-invocation distribution for types that no event of ours can fire.
 *
 * repeat stays 1. More would change the XDP dispatcher twice a call, and the kernel's own figure, `duration`, is whole
 * nanoseconds over a window that preemption and the loop itself are in; bpf_stats times the program alone. XDP programs
 * are attached to a device of our own meanwhile (bpf/xdp_attach.h), so that they are called as in production; up to 48
 * of them share the dispatcher, a binary search over their addresses, which is at most a compare more a doubling.
 *
 * A packet is copied into the kernel for every call, so no run sees what the one before it wrote. (Repeats in one call
 * would: there the output of a run is the input of the next.) A syscall program's context is copied back, which is why
 * each run is given a fresh copy.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/stop.h"
#include "bpf/xdp_attach.h"
#include "drivers/driver.h"
#include "drivers/test_run_types.h"

#define ENOTSUPP_KERNEL 524	/* include/linux/errno.h: leaks to user space, strerror() does not know it */

struct test_run_state {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_xdp_net xdp;		/* opened when the first XDP program comes */
};

struct test_run_slot {
	struct bb_target *target;
	const struct bb_test_run_type *type;
	bool attached;			/* XDP: to `port` */
	size_t port;
};

/* One input, ready to be run on. */
struct shot {
	const struct bb_test_run_type *type;
	const struct bb_input *input;
	union bpf_attr attr;		/* as it is passed, but for what is copied back; only .test is set */
	uint8_t *ctx;			/* of a syscall program: our copy, which the kernel writes to; NULL elsewhere */
	uint8_t *out;			/* room for the packet after the run; NULL: not asked for */
};

/* --- one run ------------------------------------------------------------------------------------------------- */

/* The kernel reads all of the attributes and writes some: they are set anew each time. 0 or -errno. */
static inline int fire(const struct shot *s, union bpf_attr *attr)
{
	if (s->ctx)
		memcpy(s->ctx, s->input->data, s->input->len);
	attr->test = s->attr.test;
	return syscall(__NR_bpf, BPF_PROG_TEST_RUN, attr, sizeof(attr->test)) < 0 ? -errno : 0;
}

static int prepare(const struct bb_test_run_type *type, int prog_fd, const struct bb_input *in, struct shot *ret_shot)
{
	struct shot s = {.type = type, .input = in};

	memset(&s.attr, 0, sizeof(s.attr));
	s.attr.test.prog_fd = (__u32)prog_fd;
	s.attr.test.repeat = type->takes_repeat;
	if (type->writes_context && in->len) {
		s.ctx = malloc(in->len);
		if (!s.ctx)
			return -ENOMEM;
	}
	if (type->takes_context && in->len) {
		s.attr.test.ctx_in = (__u64)(uintptr_t)(s.ctx ? s.ctx : in->data);
		s.attr.test.ctx_size_in = (__u32)in->len;
	} else if (!type->takes_context) {
		s.attr.test.data_in = (__u64)(uintptr_t)in->data;
		s.attr.test.data_size_in = (__u32)in->len;
	}
	if (in->out && type->has_output) {
		s.out = malloc(in->out_len + 1);
		if (!s.out) {
			free(s.ctx);
			return -ENOMEM;
		}
	}
	*ret_shot = s;
	return 0;
}

static void shot_done(struct shot *s)
{
	free(s->ctx);
	free(s->out);
}

/* What is wrong with a run's output, if anything; the first difference is enough. */
static void judge_output(const struct shot *s, const uint8_t *out, size_t len, char *ret_why, size_t size)
{
	const struct bb_input *in = s->input;

	for (size_t i = 0; i < len && i < in->out_len; i++) {
		if (out[i] == in->out[i])
			continue;
		snprintf(ret_why, size, "byte %zu of the output is 0x%02x, 0x%02x expected", i, out[i], in->out[i]);
		return;
	}
	if (len != in->out_len)
		snprintf(ret_why, size, "the output is %zu bytes, %zu expected", len, in->out_len);
}

static void judge_retval(const struct shot *s, uint32_t retval, char *ret_why, size_t size)
{
	char got[32], expected[32];

	snprintf(ret_why, size, "returned %s, %s expected",
		 bb_test_run_type__retval(s->type, retval, got, sizeof(got)),
		 bb_test_run_type__retval(s->type, s->input->retval, expected, sizeof(expected)));
}

/* One run whose output is looked at. ret_why stays as it is when all is as expected. */
static int fire_checked(const struct shot *s, char *ret_why, size_t size)
{
	struct shot with_output = *s;
	union bpf_attr attr;
	int rc;

	if (s->out) {
		with_output.attr.test.data_out = (__u64)(uintptr_t)s->out;
		with_output.attr.test.data_size_out = (__u32)s->input->out_len + 1;
	}
	rc = fire(&with_output, &attr);
	/* -ENOSPC: more output than there is room for, and all else as without it (net/bpf/test_run.c, bpf_test_finish). */
	if (rc == -ENOSPC && s->out)
		rc = 0;
	if (rc)
		return rc;
	if (s->input->has_retval && attr.test.retval != s->input->retval)
		judge_retval(s, attr.test.retval, ret_why, size);
	else if (s->out)
		judge_output(s, s->out, attr.test.data_size_out, ret_why, size);
	else if (s->ctx && s->input->out)
		judge_output(s, s->ctx, s->input->len, ret_why, size);
	return 0;
}

/* --- a batch ------------------------------------------------------------------------------------------------- */

/* How a call failed, for people. */
static int say_failed(const struct test_run_slot *slot, const struct shot *s, int rc, struct bb_err *err)
{
	const char *program = bb_target__program(slot->target);

	if (rc == -ENOTSUPP_KERNEL || rc == -EOPNOTSUPP)
		return bb_test_run_type__refuse(slot->type->prog_type, err);
	if (rc == -EINVAL || rc == -E2BIG)
		return bb_fail(err, rc, "the kernel does not run '%s' on input '%s' of %zu bytes (%s); a %s program "
			       "takes %s", program, s->input->name, s->input->len, strerror(-rc), slot->type->name,
			       slot->type->wants);
	return bb_fail(err, rc, "running '%s' on input '%s': %s", program, s->input->name, strerror(-rc));
}

/* The warm-up, at least one run of it: the first has its output looked at. */
static int warm_up(const struct test_run_slot *slot, const struct shot *s, struct bb_batch *b,
		   struct bb_prog_stats *ret_last)
{
	size_t want = b->warmup ? b->warmup : 1;
	struct bb_prog_stats before;
	union bpf_attr attr;
	int rc = bb_stats_reader__info(bb_target__reader(slot->target), &before);

	for (size_t i = 0; !rc && i < want;) {
		rc = i ? fire(s, &attr) : fire_checked(s, b->void_why, sizeof(b->void_why));
		bb_target__drain(slot->target, !b->drain_always);
		if (!rc) {
			i++;
		} else if (rc == -EINTR && !bb_stop_signal) {
			b->retries++;
			rc = 0;
		}
	}
	if (!rc)
		rc = bb_stats_reader__info(bb_target__reader(slot->target), ret_last);
	if (!rc)	/* what a call ran that a signal broke off is discarded, too */
		b->warmup = b->retries ? ret_last->run_cnt - before.run_cnt : want;
	return rc;
}

/* One sample: a run, and how far the counters moved. */
static inline int sample_once(const struct test_run_slot *slot, const struct shot *s, struct bb_batch *b,
			      struct bb_prog_stats *last)
{
	struct bb_prog_stats now;
	uint64_t runs, ns;
	union bpf_attr attr;
	int fire_rc = fire(s, &attr), rc = bb_stats_reader__info(bb_target__reader(slot->target), &now);

	bb_target__drain(slot->target, !b->drain_always);
	runs = now.run_cnt - last->run_cnt;
	ns = now.run_time_ns - last->run_time_ns;
	if (rc || (fire_rc && fire_rc != -EINTR))
		return rc ? rc : fire_rc;
	*last = now;
	if (fire_rc) {		/* broken off by a signal: discarded, as if it were part of the warm-up */
		b->retries++;
		b->warmup += runs;
		return bb_stop_signal ? -EINTR : 0;
	}
	if (s->input->has_retval && attr.test.retval != s->input->retval && !b->void_why[0])
		judge_retval(s, attr.test.retval, b->void_why, sizeof(b->void_why));
	b->fired++;
	b->run_cnt += runs;
	b->run_time_ns += ns;
	if (runs == 1)
		b->ns[b->n++] = ns;
	else
		b->multi += runs;
	return 0;
}

static const struct bb_input *input_of(const struct test_run_state *st, const struct test_run_slot *slot,
				       uint32_t param)
{
	return param < st->spec->inputs.n ? &st->spec->inputs.v[param] : slot->type->otherwise;
}

static int test_run_batch(void *state, void *slot_, uint32_t param, struct bb_batch *b, struct bb_err *err)
{
	const struct test_run_state *st = state;
	const struct test_run_slot *slot = slot_;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats last;
	struct shot s;
	int rc;

	b->target_cpu_s = NAN;
	rc = bb_pin_to_cpu(st->opts.cpu, err);	/* `cpu` of the call is refused by most types and passed over by XDP */
	if (rc)
		return rc;
	if (prepare(slot->type, bb_target__prog_fd(slot->target), input_of(st, slot, param), &s))
		return bb_fail_nomem(err);
	rc = warm_up(slot, &s, b, &last);
	while (!rc && b->fired < b->want)
		rc = sample_once(slot, &s, b, &last);
	b->elapsed_s = bb_seconds_since(began_ns);
	if (rc)
		say_failed(slot, &s, rc, err);
	shot_done(&s);
	return rc ? rc : bb_stop_signal ? -EINTR : 0;
}

/* --- programs ------------------------------------------------------------------------------------------------ */

static int open_slot(struct bb_target *target, struct test_run_slot *ret_slot, struct bb_err *err)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bb_target__prog_fd(target), &info, &len)) {
		int rc = -errno;

		return bb_fail(err, rc, "asking for the type of '%s': %s", bb_target__program(target), strerror(-rc));
	}
	*ret_slot = (struct test_run_slot){.target = target};
	return bb_test_run_type__find(info.type, &ret_slot->type, err);
}

static int test_run_attach(void *state, struct bb_subject *subject, void **ret_slot, struct bb_err *err)
{
	struct test_run_state *st = state;
	struct test_run_slot *slot = calloc(1, sizeof(*slot));
	int rc = slot ? open_slot(subject->target, slot, err) : bb_fail_nomem(err);

	if (!rc && slot->type->is_xdp) {
		if (st->xdp.netns_fd < 0)
			rc = bb_xdp_net__open(&st->xdp, err);
		if (!rc)
			rc = bb_xdp_net__attach(&st->xdp, bb_target__prog_fd(subject->target), &slot->port, err);
		if (!rc)
			slot->attached = true;
	}
	if (rc)
		free(slot);
	else
		*ret_slot = slot;
	return rc;
}

static void test_run_detach(void *state, void *slot_)
{
	struct test_run_state *st = state;
	struct test_run_slot *slot = slot_;

	if (slot && slot->attached)
		bb_xdp_net__detach(&st->xdp, slot->port);
	free(slot);
}

/* One run on every input before anything is measured: what the kernel does not take is said at once and by name. */
static int try_input(const struct test_run_slot *slot, const struct bb_input *in, struct bb_err *err)
{
	char why[sizeof(((struct bb_batch *)0)->void_why)];	/* for the batches to say */
	struct shot s;
	int rc;

	if (in->is_context != slot->type->takes_context)
		return bb_fail(err, -EINVAL, "input '%s' is a %s; a %s program ('%s') takes %s", in->name,
			       in->is_context ? "context" : "packet", slot->type->name,
			       bb_target__program(slot->target), slot->type->wants);
	if (in->out && !slot->type->has_output && !slot->type->writes_context)
		return bb_fail(err, -EINVAL, "input '%s' expects an output; a test run of a %s program has none",
			       in->name, slot->type->name);
	if (prepare(slot->type, bb_target__prog_fd(slot->target), in, &s))
		return bb_fail_nomem(err);
	do
		rc = fire_checked(&s, why, sizeof(why));
	while (rc == -EINTR && !bb_stop_signal);
	bb_target__drain(slot->target, false);
	if (rc)
		rc = say_failed(slot, &s, rc, err);
	shot_done(&s);
	return rc;
}

static int test_run_probe(void *state, struct bb_subject *subject, struct bb_err *err)
{
	const struct test_run_state *st = state;
	const struct bb_inputs *inputs = &st->spec->inputs;
	struct test_run_slot *slot;
	void *attached;
	int rc = test_run_attach(state, subject, &attached, err);

	if (rc)
		return rc;
	slot = attached;
	for (size_t i = 0; !rc && i < inputs->n; i++)
		rc = try_input(slot, &inputs->v[i], err);
	if (!rc && !inputs->n)
		rc = try_input(slot, slot->type->otherwise, err);
	test_run_detach(state, attached);
	return rc;
}

static int test_run_open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts, void **ret_state,
			 struct bb_err *err)
{
	struct test_run_state *st = calloc(1, sizeof(*st));

	if (!st)
		return bb_fail_nomem(err);
	st->spec = spec;
	st->opts = *opts;
	st->xdp.netns_fd = -1;
	*ret_state = st;
	return 0;
}

static void test_run_close(void *state)
{
	struct test_run_state *st = state;

	if (!st)
		return;
	bb_xdp_net__close(&st->xdp);
	free(st);
}

const struct bb_driver bb_driver_test_run = {
	.name = "step",
	.trigger = "test-run",
	.doc = "have the kernel run it on one input at a time and read the counters after each: every run is a sample",
	.needs_bpf = true,
	.fires = true,
	.open = test_run_open,
	.probe = test_run_probe,
	.attach = test_run_attach,
	.batch = test_run_batch,
	.detach = test_run_detach,
	.close = test_run_close,
};
