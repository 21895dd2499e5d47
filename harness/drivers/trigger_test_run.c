/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trigger test-run: the kernel runs the program once (BPF_PROG_TEST_RUN, repeat 1) on an input
 * of ours. This also works for program types that no event of ours can fire.
 *
 * `repeat` stays 1. So each run gets a fresh copy of the packet or context, and the counters time
 * each run alone. But a run sees what earlier runs wrote to maps, unless the scenario has `reset:
 * run`.
 *
 * The kernel's own result `duration` is not used. It is in whole nanoseconds, and includes
 * preemption and the kernel's loop over the runs.
 */
#include "drivers/trigger_test_run.h"

#include <bpf/bpf.h>

#include "plan/field.h"

#define ENOTSUPP_KERNEL                                                                            \
	524 /* include/linux/errno.h: user space gets it, but strerror() does not know it */

static void open_call(const struct bb_test_run_slot *slot, const struct bb_input *in,
		      struct bb_test_call *ret_call)
{
	const struct bb_test_run_type *type = slot->type;
	struct bb_test_call s = {.target = slot->common.target,
				 .type = type,
				 .input = in,
				 .is_judged = slot->is_judged};

	memset(&s.attr, 0, sizeof(s.attr));
	s.attr.test.prog_fd = (__u32)slot->common.prog_fd;
	s.attr.test.repeat = type->takes_repeat;
	if (type->writes_context && in->len)
		s.ctx = bb_calloc(1, in->len);
	if (type->takes_context && in->len) {
		s.attr.test.ctx_in = (__u64)(uintptr_t)(s.ctx ? s.ctx : in->data);
		s.attr.test.ctx_size_in = (__u32)in->len;
	} else if (!type->takes_context) {
		s.attr.test.data_in = (__u64)(uintptr_t)in->data;
		s.attr.test.data_size_in = (__u32)in->len;
		s.attr.test.ctx_in = (__u64)(uintptr_t)in->ctx;
		s.attr.test.ctx_size_in = (__u32)in->ctx_len;
	}
	if (s.is_judged && in->out && type->has_output)
		s.out = bb_calloc(1, in->out_len + 1);
	*ret_call = s;
}

void bb_test_call__close(struct bb_test_call *s)
{
	free(s->ctx);
	free(s->out);
	s->ctx = s->out = NULL;
}

static void judge_output(const struct bb_test_call *s, const uint8_t *out, size_t len,
			 struct bb_batch *b)
{
	const struct bb_input *in = s->input;

	for (size_t i = 0; i < len && i < in->out_len; i++) {
		if (out[i] == in->out[i])
			continue;
		snprintf(b->void_why, sizeof(b->void_why),
			 "byte %zu of the output is 0x%02x, 0x%02x expected", i, out[i],
			 in->out[i]);
		return;
	}
	if (len != in->out_len)
		snprintf(b->void_why, sizeof(b->void_why), "the output is %zu bytes, %zu expected",
			 len, in->out_len);
}

void bb_test_call__judge_retval(const struct bb_test_call *s, uint32_t retval, struct bb_batch *b)
{
	if (!s->is_judged || !s->input->has_retval || retval == s->input->retval || b->void_why[0])
		return;
	snprintf(b->void_why, sizeof(b->void_why), "returned %s, %s expected",
		 bb_test_run_type__retval(s->type, retval).text,
		 bb_test_run_type__retval(s->type, s->input->retval).text);
}

int bb_test_call__fire_checked(const struct bb_test_call *s, struct bb_batch *b)
{
	struct bb_test_call with_output = *s;
	union bpf_attr attr;

	with_output.attr.test.repeat = s->type->takes_repeat;
	if (s->out) {
		with_output.attr.test.data_out = (__u64)(uintptr_t)s->out;
		with_output.attr.test.data_size_out = (__u32)s->input->out_len + 1;
	}
	int rc = bb_test_call__fire(&with_output, &attr);
	/* -ENOSPC means only that our buffer is too short (net/bpf/test_run.c, bpf_test_finish) */
	if (rc == -ENOSPC && s->out)
		rc = 0;
	if (rc)
		return rc;
	if (s->is_judged)
		snprintf(b->returned, sizeof(b->returned), "%s",
			 bb_test_run_type__retval(s->type, attr.test.retval).text);
	bb_test_call__judge_retval(s, attr.test.retval, b);
	if (b->void_why[0])
		return 0;
	if (s->out)
		judge_output(s, s->out, attr.test.data_size_out, b);
	else if (s->is_judged && s->ctx && s->input->out)
		judge_output(s, s->ctx, s->input->len, b);
	return 0;
}

/* Makes a call with the context `ctx` instead of the input's own context. `len` is 0 for no
 * context. */
static int fire_with(const struct bb_test_call *s, const void *ctx, size_t len)
{
	struct bb_test_call other = *s;
	union bpf_attr attr;

	other.attr.test.ctx_in = (__u64)(uintptr_t)ctx;
	other.attr.test.ctx_size_in = (__u32)len;
	return bb_test_call__fire(&other, &attr);
}

/* True if the kernel takes no context for XDP programs: it accepts the packet alone, but refuses
 * the packet with a context that gives only the packet's end. */
static bool knows_no_xdp_context(const struct bb_test_call *s)
{
	const struct xdp_md md = {.data_end = (__u32)s->input->len};

	return s->type->takes_ctx == BB_CTX_XDP && fire_with(s, &md, sizeof(md)) == -EINVAL &&
	       !fire_with(s, NULL, 0);
}

/* Returns the first member of an skb context that the kernel refuses. Returns NULL if it accepts
 * each member alone, if the context is of another kind, or if it refuses even the packet alone. */
static const char *unknown_skb_member(const struct bb_test_call *s)
{
	struct __sk_buff alone;
	const char *name = NULL;
	size_t at = 0;

	if (s->type->takes_ctx != BB_CTX_SKB || fire_with(s, NULL, 0))
		return NULL;
	do {
		name = bb_ctx__next_skb_member(s->input, &at, &alone);
	} while (name && fire_with(s, &alone, sizeof(alone)) != -EINVAL);
	return name;
}

static int say_context_refused(const struct bb_test_call *s, int rc, struct bb_err *err)
{
	const struct bb_input *in = s->input;
	const char *program = s->target->program,
		   *member = rc == -EINVAL ? unknown_skb_member(s) : NULL;

	if (member)
		return bb_fail(err, -ENOTSUP,
			       "this kernel takes no '%s' in the context of a test run (input '%s' "
			       "of '%s')",
			       member, in->name, program);
	if (rc == -EINVAL && knows_no_xdp_context(s))
		return bb_fail(err, -ENOTSUP,
			       "this kernel takes no context in a test run of an XDP program "
			       "(input '%s' of '%s')",
			       in->name, program);
	return bb_fail(err, rc,
		       "the kernel does not run '%s' on input '%s' of %zu bytes with its context "
		       "of %zu (%m); a %s program takes %s; and as context %s %s",
		       program, in->name, in->len, in->ctx_len, s->type->name, s->type->wants,
		       s->type->ctx_wants, bb_ctx__members(s->type->takes_ctx).text);
}

int bb_test_call__say_failed(const struct bb_test_call *s, int rc, struct bb_err *err)
{
	const char *program = s->target->program;

	if (rc == -ENOTSUPP_KERNEL || rc == -EOPNOTSUPP)
		return bb_test_run_type__refuse(s->type->prog_type, err);
	if (s->input->ctx && (rc == -EINVAL || rc == -E2BIG || rc == -ENODEV))
		return say_context_refused(s, rc, err);
	if (rc == -EINVAL || rc == -E2BIG)
		return bb_fail(err, rc,
			       "the kernel does not run '%s' on input '%s' of %zu bytes (%m); a %s "
			       "program takes %s",
			       program, s->input->name, s->input->len, s->type->name,
			       s->type->wants);
	return bb_fail(err, rc, "running '%s' on input '%s': %m", program, s->input->name);
}

static int open_runs(void *state, struct bb_err *)
{
	struct bb_test_run *t = state;
	const struct bb_drive_spec *spec = t->common.spec;

	t->xdp.netns_fd = -1;
	if (spec->order)
		t->mix = bb_mix__make(&spec->inputs, spec->order, t->common.opts.seed);
	return 0;
}

static void close_runs(void *state)
{
	struct bb_test_run *t = state;

	free(t->mix.v);
	free(t->places);
	bb_xdp_net__close(&t->xdp);
}

static int attach(void *attached, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_test_run_slot *slot = attached;
	struct bb_test_run *t = (struct bb_test_run *)slot->common.state;
	const char *floor = t->common.spec->floor;
	uint32_t type;
	int rc = bb_target__prog_type(prog->target, &type, err);

	if (!rc)
		rc = bb_test_run_type__find(type, &slot->type, err);
	if (!rc && t->repeats && !slot->type->takes_repeat)
		rc = bb_fail(err, -ENOTSUP,
			     "a test run of a %s program takes no repeat, and the drive '%s' needs "
			     "one; 'with: step, trigger: test-run' measures it",
			     slot->type->name, t->common.spec->kind->with);
	slot->is_judged = !floor || strcmp(floor, prog->spec->name);
	/* without a mix, there are no places */
	while (slot->place < t->n_places && t->places[slot->place].variant != prog->spec)
		slot->place++;
	if (t->mix.n && slot->place == t->n_places)
		BB_PUSH(t->places, t->n_places, (struct bb_mix_place){.variant = prog->spec});
	if (!rc && slot->type->prog_type == BPF_PROG_TYPE_XDP &&
	    !bb_target__is_live(prog->target)) {
		if (t->xdp.netns_fd < 0)
			rc = bb_xdp_net__open(&t->xdp, err);
		t->xdp.one_at_a_time = t->common.opts.is_exact;
		if (!rc)
			rc = bb_xdp_net__attach(&t->xdp, slot->common.prog_fd, &slot->port, err);
		slot->attached = !rc;
	}
	return rc;
}

static void detach(void *attached)
{
	struct bb_test_run_slot *slot = attached;

	if (slot->attached)
		bb_xdp_net__detach(&((struct bb_test_run *)slot->common.state)->xdp, slot->port);
}

static const struct bb_input *input_of(const struct bb_test_run_slot *slot, uint32_t index)
{
	const struct bb_inputs *inputs = &slot->common.state->spec->inputs;

	return index < inputs->n ? &inputs->v[index] : slot->type->otherwise;
}

void bb_test_run__words(const struct bb_input *input, const struct bb_test_prog *prog,
			char *ret_words, size_t size)
{
	const struct bb_test_run_type *type;
	uint32_t prog_type;

	if (!bb_target__prog_type(prog->target, &prog_type, NULL) &&
	    !bb_test_run_type__find(prog_type, &type, NULL))
		snprintf(ret_words, size, "a test run on a %s of %zu bytes",
			 type->takes_context ? "context" : "packet",
			 (input ? input : type->otherwise)->len);
}

int bb_test_run__aim(const struct bb_attached *attached, uint32_t input,
		     struct bb_test_call *ret_call, struct bb_err *err)
{
	const struct bb_test_run_slot *slot = (const struct bb_test_run_slot *)attached;
	struct bb_xdp_net *xdp = &((struct bb_test_run *)attached->state)->xdp;
	int rc = bb_pin_to_cpu(attached->state->opts.cpu, err);
	size_t port;

	/* another program may have taken the place of ours on the network device */
	if (!rc && slot->attached && xdp->one_at_a_time)
		rc = bb_xdp_net__attach(xdp, attached->prog_fd, &port, err);
	if (!rc)
		open_call(slot, input_of(slot, input), ret_call);
	return rc;
}

/* longest time for trying the inputs, s */
#define PROBE_S 0.5

int bb_test_run__times(struct bb_target *target, const struct bb_test_run_type *type,
		       const struct bb_input *input, uint32_t times, struct bb_err *err)
{
	const struct bb_test_run_slot slot = {
		.common = {.target = target, .prog_fd = target->prog_fd},
		.type = type,
	};
	int rc = bb_test_run_type__check(type, target->program, input, err);
	struct bb_test_call call;
	union bpf_attr attr;

	if (rc)
		return rc;
	open_call(&slot, input, &call);
	for (uint32_t i = 0; !rc && i < times;) {
		rc = bb_must_end_why();
		if (!rc)
			rc = bb_test_call__fire(&call, &attr);
		if (!rc)
			i++;
		else if (rc == -EINTR && !bb_must_end())
			rc = 0;
		bb_target__drain(target, true);
	}
	bb_target__drain(target, false);
	if (rc && rc != -EINTR && rc != -ETIME)
		rc = bb_test_call__say_failed(&call, rc, err);
	bb_test_call__close(&call);
	return rc;
}

/* The trigger's function probe(). Runs the program once on every input, as far as PROBE_S allows,
 * before anything is measured. So an input that the kernel refuses is reported at once. Wrong
 * results are reported only by the measurement. */
static int probe(void *state_, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_trigger_state *state = state_;
	size_t n = state->spec->inputs.n ? state->spec->inputs.n : 1; /* the default input */
	struct bb_attached *a;
	int rc = bb_trigger__attach(state, prog, prog->target->prog_fd, &a, err);

	if (rc)
		return rc;
	const struct bb_test_run_slot *slot = (const struct bb_test_run_slot *)a;
	uint64_t began_ns = bb_now_ns();
	for (uint32_t i = 0;
	     !rc && i < n && prog->run_s < PROBE_S && bb_seconds_since(began_ns) < PROBE_S; i++) {
		rc = bb_test_run__times(prog->target, slot->type, input_of(slot, i), 1, err);
		if (!i)
			prog->run_s = bb_seconds_since(began_ns);
	}
	bb_trigger__detach(a);
	return rc;
}

/* Prepares a call with the next input of the mix. Returns the input's position in the mix.
 * Prefetches later inputs to save time between runs. This does not favour the program, because the
 * kernel copies each packet before the run, so the packet is in the caches anyway. */
static uint32_t aim_at_next(const struct bb_test_run_slot *slot, struct bb_test_call *call)
{
	const struct bb_test_run *t = (const struct bb_test_run *)slot->common.state;
	struct bb_mix_place *place = &t->places[slot->place];
	const struct bb_input *inputs = t->common.spec->inputs.v;
	size_t next = place->next;

	if (next + 4 < t->mix.n) {
		const struct bb_input *soon = &inputs[t->mix.v[next + 4]];

		__builtin_prefetch(soon);
		__builtin_prefetch(&soon->out_len);
		__builtin_prefetch(inputs[t->mix.v[next + 2]].data);
	}
	bb_test_call__close(call);
	open_call(slot, &inputs[t->mix.v[next]], call);
	place->next = next + 1 == t->mix.n ? 0 : next + 1;
	return (uint32_t)next;
}

/* Makes one run after another. Returns 1 when the instrument ends the batch, or -errno when a call
 * fails. Checks the output of the first run, except in a mix. */
static int fire_calls(const struct bb_test_run_slot *slot, struct bb_test_call *call,
		      const struct bb_instrument_part *part, struct bb_batch *b)
{
	const struct bb_attached *a = &slot->common;
	struct bb_cold *cold = a->state->cold;
	bool is_mix = a->state->spec->order != BB_ORDER_NONE, is_first = !is_mix;
	union bpf_attr attr;
	uint32_t place = 0;
	int rc = 0;

	b->run_type = slot->type;
	while (!rc) {
		uint64_t fired = b->fired;
		size_t n = b->n;
		int fire_rc;

		if (is_mix)
			place = aim_at_next(slot, call);
		rc = bb_target__reset_for_run(a->target);
		if (rc)
			return rc;
		if (cold)
			bb_cold__empty(cold);
		if (is_first)
			fire_rc = bb_test_call__fire_checked(call, b);
		else
			fire_rc = bb_test_call__fire(call, &attr);
		if (fire_rc && (fire_rc != -EINTR || bb_must_end()))
			return fire_rc;
		rc = part->after(a, part->arg, b, !fire_rc);
		b->retries += fire_rc != 0;
		if (b->returns && b->n > n)
			b->returns[n] = attr.test.retval;
		if (b->places && b->n > n)
			b->places[n] = place;
		if (b->fired > fired && !is_first) /* not a warm-up run */
			bb_test_call__judge_retval(call, attr.test.retval, b);
		is_first &= fire_rc != 0;
	}
	return rc;
}

static int fire(void *attached, uint32_t input, const struct bb_instrument_part *part,
		struct bb_batch *b, struct bb_err *err)
{
	const struct bb_test_run_slot *slot = attached;
	struct bb_test_call call;
	int rc = bb_test_run__aim(attached, input, &call, err);

	if (rc)
		return rc;
	if (b->rewinds)
		((const struct bb_test_run *)slot->common.state)->places[slot->place].next = 0;
	/* the first run, whose output is checked, is part of the warm-up */
	if (!b->warmup && slot->common.state->spec->order == BB_ORDER_NONE)
		b->warmup = 1;
	rc = part->begin(attached, part->arg, b);
	if (!rc)
		rc = fire_calls(slot, &call, part, b);
	if (rc < 0 && rc != -EINTR)
		rc = bb_test_call__say_failed(&call, rc, err);
	bb_test_call__close(&call);
	return rc < 0 && rc != -EINTR ? rc : bb_stop_signal ? -EINTR : 0;
}

const struct bb_drive_trigger bb_trigger_test_run = {
	.by = "test-run",
	.doc = "have the kernel run it on one input at a time",
	.keys = {{"trigger"}, {"caches"}, {"inputs"}, {"order"}, {"samples"}},
	.takes_inputs = true,
	.fires = true,
	.read_only = true,
	.state_bytes = sizeof(struct bb_test_run),
	.attached_bytes = sizeof(struct bb_test_run_slot),
	.open = open_runs,
	.probe = probe,
	.attach = attach,
	.fire = fire,
	.detach = detach,
	.fired_by = bb_test_run__words,
	.close = close_runs,
};
