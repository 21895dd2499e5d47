/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/test_run.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"

int bb_test_run__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		      void **ret_state, struct bb_err *err)
{
	struct bb_test_run *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return bb_fail_nomem(err);
	if (spec->caches == BB_CACHES_COLD) {
		rc = bb_cold__open("", opts->cpu, &t->cold, err);
		if (rc) {
			free(t);
			return rc;
		}
	}
	t->spec = spec;
	t->opts = *opts;
	t->xdp.netns_fd = -1;
	*ret_state = t;
	return 0;
}

int bb_test_run__open_repeating(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
				void **ret_state, struct bb_err *err)
{
	int rc = bb_test_run__open(spec, opts, ret_state, err);
	struct bb_test_run *t = *ret_state;

	if (rc)
		return rc;
	t->repeats = true;
	bb_pmu__open(bb_pmu_events, &t->pmu);
	return 0;
}

void bb_test_run__close(void *state)
{
	struct bb_test_run *t = state;

	if (!t)
		return;
	bb_xdp_net__close(&t->xdp);
	if (t->repeats)
		bb_pmu__close(&t->pmu);
	bb_cold__free(t->cold);
	free(t);
}

static int open_slot(const struct bb_test_run *t, struct bb_target *target,
		     struct bb_test_run_slot *ret_slot, struct bb_err *err)
{
	uint32_t type;
	int rc = bb_target__prog_type(target, &type, err);

	if (rc)
		return rc;
	*ret_slot = (struct bb_test_run_slot){.target = target};
	rc = bb_test_run_type__find(type, &ret_slot->type, err);
	if (!rc && t->repeats && !ret_slot->type->takes_repeat)
		rc = bb_fail(err, -ENOTSUP,
			     "a test run of a %s program takes no repeat, and a slope needs one; "
			     "'with: step, trigger: test-run' measures it",
			     ret_slot->type->name);
	return rc;
}

int bb_test_run__attach_program(struct bb_test_run *t, struct bb_test_prog *subject, int prog_fd,
				struct bb_test_run_slot **ret_slot, struct bb_err *err)
{
	struct bb_target *target = subject->target;
	struct bb_test_run_slot *slot = calloc(1, sizeof(*slot));
	int rc = slot ? open_slot(t, target, slot, err) : bb_fail_nomem(err);

	if (!rc) {
		slot->prog_fd = prog_fd;
		slot->is_judged = !t->spec->floor || strcmp(t->spec->floor, subject->spec->name);
	}
	if (!rc && slot->type->is_xdp && !bb_target__is_adopted(target)) {
		if (t->xdp.netns_fd < 0)
			rc = bb_xdp_net__open(&t->xdp, err);
		if (!rc)
			rc = bb_xdp_net__attach(&t->xdp, prog_fd, &slot->port, err);
		if (!rc)
			slot->attached = true;
	}
	if (rc)
		free(slot);
	else
		*ret_slot = slot;
	return rc;
}

int bb_test_run__attach(void *state, struct bb_test_prog *subject, void **ret_slot,
			struct bb_err *err)
{
	struct bb_test_run_slot *slot;
	int rc = bb_test_run__attach_program(state, subject, bb_target__prog_fd(subject->target),
					     &slot, err);

	if (!rc)
		*ret_slot = slot;
	return rc;
}

void bb_test_run__detach(void *state, void *slot_)
{
	struct bb_test_run *t = state;
	struct bb_test_run_slot *slot = slot_;

	if (slot && slot->attached)
		bb_xdp_net__detach(&t->xdp, slot->port);
	free(slot);
}

static const struct bb_input *input_of(const struct bb_test_run *t,
				       const struct bb_test_run_slot *slot, uint32_t index)
{
	return index < t->spec->inputs.n ? &t->spec->inputs.v[index] : slot->type->otherwise;
}

int bb_test_run__aim(const struct bb_test_run *t, const struct bb_test_run_slot *slot,
		     uint32_t input, struct bb_test_call *ret_shot, struct bb_err *err)
{
	int rc = bb_pin_to_cpu(t->opts.cpu, err);

	if (!rc && bb_test_call__open(slot->target, slot->prog_fd, slot->type,
				      input_of(t, slot, input), slot->is_judged, ret_shot))
		rc = bb_fail_nomem(err);
	return rc;
}

#define PROBE_S 0.5 /* inputs that are not tried within it, are tried when they are measured */

static int try_input(const struct bb_test_run_slot *slot, const struct bb_input *in,
		     struct bb_err *err)
{
	char why[sizeof(((struct bb_batch *)0)->void_why)] = ""; /* for the batches to say */
	int rc = bb_test_run_type__check(slot->type, bb_target__program(slot->target), in, err);
	struct bb_test_call s;

	if (rc)
		return rc;
	if (bb_test_call__open(slot->target, slot->prog_fd, slot->type, in, slot->is_judged, &s))
		return bb_fail_nomem(err);
	do
		rc = bb_test_call__fire_checked(&s, why, sizeof(why));
	while (rc == -EINTR && !bb_must_end());
	bb_target__drain(slot->target, false);
	if (rc)
		rc = bb_test_call__say_failed(&s, rc, err);
	bb_test_call__close(&s);
	return rc;
}

int bb_test_run__probe(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	const struct bb_test_run *t = state;
	const struct bb_test_run_slot *slot;
	size_t n = t->spec->inputs.n ? t->spec->inputs.n : 1; /* or the type's own */
	uint64_t began_ns;
	void *attached;
	int rc = bb_test_run__attach(state, subject, &attached, err);

	if (rc)
		return rc;
	slot = attached;
	began_ns = bb_now_ns();
	for (uint32_t i = 0;
	     !rc && i < n && subject->run_s < PROBE_S && bb_seconds_since(began_ns) < PROBE_S;
	     i++) {
		rc = try_input(slot, input_of(t, slot, i), err);
		if (!i)
			subject->run_s = bb_seconds_since(began_ns);
	}
	bb_test_run__detach(state, attached);
	return rc;
}

const struct bb_drive_key bb_test_run_keys[] = {
	{.name = "trigger"}, {.name = "caches"}, {.name = "inputs"}, {.name = "samples"}, {0},
};
