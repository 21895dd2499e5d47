/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/trigger.h"

int bb_trigger__open(const struct bb_drive_trigger *trigger, const struct bb_drive_spec *spec,
		     const struct bb_driver_opts *opts, struct bb_trigger_state **ret_state,
		     struct bb_err *err)
{
	struct bb_trigger_state *s = bb_calloc(1, trigger->state_bytes);
	int rc = 0;

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

void bb_trigger__close(struct bb_trigger_state *s)
{
	if (!s)
		return;
	s->trigger->close(s);
	bb_cold__free(s->cold);
	free(s);
}

int bb_trigger__attach(struct bb_trigger_state *s, struct bb_test_prog *prog, int prog_fd,
		       struct bb_attached **ret_attached, struct bb_err *err)
{
	struct bb_attached *a = bb_calloc(1, s->trigger->attached_bytes);
	int rc;

	*a = (struct bb_attached){.state = s,
				  .target = prog->target,
				  .prog_fd = prog_fd,
				  .runs_each = 1};
	rc = s->trigger->attach(a, prog, err);
	if (rc)
		free(a);
	else
		*ret_attached = a;
	return rc;
}

void bb_trigger__detach(struct bb_attached *a)
{
	if (a)
		a->state->trigger->detach(a);
	free(a);
}

int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err)
{
	if (rc != -ESRCH)
		return rc;
	snprintf(b->void_why, sizeof(b->void_why), "%.190s", err->msg);
	return 0;
}
