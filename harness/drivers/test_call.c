/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/test_call.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/ctx_field.h"

#define ENOTSUPP_KERNEL                                                                            \
	524 /* include/linux/errno.h: leaks to user space, strerror() does not know it */

int bb_test_call__open(struct bb_target *target, int prog_fd, const struct bb_test_run_type *type,
		       const struct bb_input *in, bool is_judged, struct bb_test_call *ret_shot)
{
	struct bb_test_call s = {.target = target,
				 .type = type,
				 .input = in,
				 .is_judged = is_judged};

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
		s.attr.test.ctx_in = (__u64)(uintptr_t)in->ctx;
		s.attr.test.ctx_size_in = (__u32)in->ctx_len;
	}
	if (is_judged && in->out && type->has_output) {
		s.out = malloc(in->out_len + 1);
		if (!s.out) {
			free(s.ctx);
			return -ENOMEM;
		}
	}
	*ret_shot = s;
	return 0;
}

void bb_test_call__close(struct bb_test_call *s)
{
	if (!s)
		return;
	free(s->ctx);
	free(s->out);
	s->ctx = s->out = NULL;
}

/* What is wrong with a run's output, if anything; the first difference is enough. */
static void judge_output(const struct bb_test_call *s, const uint8_t *out, size_t len,
			 char *ret_why, size_t size)
{
	const struct bb_input *in = s->input;

	for (size_t i = 0; i < len && i < in->out_len; i++) {
		if (out[i] == in->out[i])
			continue;
		snprintf(ret_why, size, "byte %zu of the output is 0x%02x, 0x%02x expected", i,
			 out[i], in->out[i]);
		return;
	}
	if (len != in->out_len)
		snprintf(ret_why, size, "the output is %zu bytes, %zu expected", len, in->out_len);
}

void bb_test_call__judge_retval(const struct bb_test_call *s, uint32_t retval, char *why,
				size_t size)
{
	char got[32], expected[32];

	if (!s->is_judged || !s->input->has_retval || retval == s->input->retval || why[0])
		return;
	snprintf(why, size, "returned %s, %s expected",
		 bb_test_run_type__retval(s->type, retval, got, sizeof(got)),
		 bb_test_run_type__retval(s->type, s->input->retval, expected, sizeof(expected)));
}

int bb_test_call__fire_checked(const struct bb_test_call *s, char *ret_why, size_t size)
{
	struct bb_test_call with_output = *s;
	union bpf_attr attr;
	int rc;

	with_output.attr.test.repeat = s->type->takes_repeat;
	if (s->out) {
		with_output.attr.test.data_out = (__u64)(uintptr_t)s->out;
		with_output.attr.test.data_size_out = (__u32)s->input->out_len + 1;
	}
	rc = bb_test_call__fire(&with_output, &attr);
	/* -ENOSPC: more output than there is room for, and all else as without it
	 * (net/bpf/test_run.c, bpf_test_finish). */
	if (rc == -ENOSPC && s->out)
		rc = 0;
	if (rc)
		return rc;
	bb_test_call__judge_retval(s, attr.test.retval, ret_why, size);
	if (ret_why[0])
		return 0;
	if (s->out)
		judge_output(s, s->out, attr.test.data_size_out, ret_why, size);
	else if (s->is_judged && s->ctx && s->input->out)
		judge_output(s, s->ctx, s->input->len, ret_why, size);
	return 0;
}

/* One call with another context; len = 0: with none. 0 or -errno. */
static int fire_with(const struct bb_test_call *s, const void *ctx, size_t len)
{
	struct bb_test_call other = *s;
	union bpf_attr attr;

	other.attr.test.ctx_in = (__u64)(uintptr_t)ctx;
	other.attr.test.ctx_size_in = (__u32)len;
	return bb_test_call__fire(&other, &attr);
}

/* Whether the kernel minds a context that says nothing but where the packet ends, and not the
 * packet. */
static bool knows_no_xdp_context(const struct bb_test_call *s)
{
	const struct xdp_md md = {.data_end = (__u32)s->input->len};

	return s->type->takes_ctx == BB_CTX_XDP && fire_with(s, &md, sizeof(md)) == -EINVAL &&
	       !fire_with(s, NULL, 0);
}

/* The first member of the context that the kernel does not take; NULL: it takes them all. */
static const char *unknown_skb_member(const struct bb_test_call *s)
{
	struct __sk_buff alone;
	const char *name = NULL;
	size_t at = 0;

	if (s->type->takes_ctx != BB_CTX_SKB || fire_with(s, NULL, 0))
		return NULL;
	do {
		name = bb_ctx_spec__next_skb_member(s->input, &at, &alone);
	} while (name && fire_with(s, &alone, sizeof(alone)) != -EINVAL);
	return name;
}

/* A context that the kernel minds: because it is older than what is in it, or because of its
 * values. */
static int say_context_refused(const struct bb_test_call *s, int rc, struct bb_err *err)
{
	const struct bb_input *in = s->input;
	const char *program = bb_target__program(s->target),
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
		       "of %zu (%s); a %s program takes %s; and as context %s %s",
		       program, in->name, in->len, in->ctx_len, strerror(-rc), s->type->name,
		       s->type->wants, s->type->ctx_wants,
		       bb_ctx_spec__members(s->type->takes_ctx).text);
}

int bb_test_call__say_failed(const struct bb_test_call *s, int rc, struct bb_err *err)
{
	const char *program = bb_target__program(s->target);

	if (rc == -ENOTSUPP_KERNEL || rc == -EOPNOTSUPP)
		return bb_test_run_type__refuse(s->type->prog_type, err);
	if (s->input->ctx && (rc == -EINVAL || rc == -E2BIG || rc == -ENODEV))
		return say_context_refused(s, rc, err);
	if (rc == -EINVAL || rc == -E2BIG)
		return bb_fail(err, rc,
			       "the kernel does not run '%s' on input '%s' of %zu bytes (%s); a %s "
			       "program takes %s",
			       program, s->input->name, s->input->len, strerror(-rc), s->type->name,
			       s->type->wants);
	return bb_fail(err, rc, "running '%s' on input '%s': %s", program, s->input->name,
		       strerror(-rc));
}
