/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/trigger.h"
#include "base/std.h"

int bb_trigger__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     void **ret_state, struct bb_err *err)
{
	const struct bb_drive_trigger *trigger = bb_driver_of(spec->kind)->trigger;
	struct bb_trigger_state *s = calloc(1, trigger->state_bytes);
	int rc = 0;

	if (!s)
		return bb_fail_nomem(err);
	*s = (struct bb_trigger_state){.trigger = trigger, .spec = spec, .opts = *opts};
	if (trigger->open)
		rc = trigger->open(s, err);
	if (!rc && spec->caches == BB_CACHES_COLD)
		rc = bb_cold__open("", opts->cpu, &s->cold, err);
	if (rc)
		bb_trigger__close(s);
	else
		*ret_state = s;
	return rc;
}

int bb_trigger__probe(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_drive_trigger *trigger = ((struct bb_trigger_state *)state)->trigger;

	return trigger->probe ? trigger->probe(state, prog, err) : 0;
}

void bb_trigger__close(void *state)
{
	struct bb_trigger_state *s = state;

	if (!s)
		return;
	s->trigger->close(s);
	bb_cold__free(s->cold);
	free(s);
}

int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err)
{
	if (rc != -ESRCH)
		return rc;
	snprintf(b->void_why, sizeof(b->void_why), "%.190s", err->msg);
	return 0;
}
