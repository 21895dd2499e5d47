/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/driver.h"

#include "drivers/trigger.h"

void bb_mix_paths__done(struct bb_mix_paths *p)
{
	free(p->path_of);
	for (size_t i = 0; i < BB_MIX_MOST_PATHS; i++)
		free(p->words[i]);
	*p = (struct bb_mix_paths){0};
}

static void close_trigger(struct bb_trigger_state *s)
{
	if (!s)
		return;
	s->trigger->close(s);
	bb_cold__free(s->cold);
	free(s);
}

int bb_driver__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		    struct bb_drive_state **ret_state, struct bb_err *err)
{
	const struct bb_driver *d = bb_driver_of(spec->kind);
	int rc = 0;

	if (d->polls && opts->cpu == opts->poll_cpu)
		return bb_fail(err, -ENOTSUP,
			       "it needs two CPUs, one for the workload and one to watch from; "
			       "only CPU %d is allowed here",
			       opts->cpu);
	struct bb_drive_state *s = bb_calloc(1, d->state_bytes ? d->state_bytes : sizeof(*s));
	*s = (struct bb_drive_state){.driver = d, .spec = spec, .opts = *opts};
	bb_rng_seed(&s->rng, opts->seed);
	if (d->trigger) {
		struct bb_trigger_state *t = bb_calloc(1, d->trigger->state_bytes);

		*t = (struct bb_trigger_state){.trigger = d->trigger, .spec = spec, .opts = *opts};
		if (d->trigger->open)
			rc = d->trigger->open(t, err);
		if (!rc && spec->caches == BB_CACHES_COLD)
			rc = bb_cold__open("", opts->cpu, &t->cold, err);
		/* only now: for bb_slope__close(), it is a sign that the trigger is open */
		if (rc)
			close_trigger(t);
		else
			s->fired = t;
	}
	if (!rc && d->open)
		rc = d->open(s, err);
	if (rc)
		bb_driver__close(s);
	else
		*ret_state = s;
	return rc;
}

void bb_driver__close(struct bb_drive_state *s)
{
	if (!s)
		return;
	if (s->driver->close)
		s->driver->close(s);
	close_trigger(s->fired);
	free(s->command);
	free(s);
}

int bb_driver__probe(struct bb_drive_state *s, struct bb_test_prog *prog, struct bb_err *err)
{
	const struct bb_drive_trigger *t = s->driver->trigger;
	int rc = t && t->probe ? t->probe(s->fired, prog, err) : 0;

	return rc || !s->driver->probe ? rc : s->driver->probe(s, prog, err);
}

int bb_trigger__attach(struct bb_trigger_state *s, struct bb_test_prog *prog, int prog_fd,
		       struct bb_attached **ret_attached, struct bb_err *err)
{
	struct bb_attached *a = bb_calloc(1, s->trigger->attached_bytes);

	*a = (struct bb_attached){.state = s,
				  .target = prog->target,
				  .prog_fd = prog_fd,
				  .runs_each = 1};
	int rc = s->trigger->attach(a, prog, err);
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

int bb_driver__attach(struct bb_drive_state *s, struct bb_test_prog *prog,
		      struct bb_drive_slot **ret_slot, struct bb_err *err)
{
	const struct bb_driver *d = s->driver;
	struct bb_drive_slot *slot = bb_calloc(1, d->slot_bytes ? d->slot_bytes : sizeof(*slot));
	int rc = 0;

	*slot = (struct bb_drive_slot){.state = s, .prog = prog};
	if (d->attach)
		rc = d->attach(slot, err);
	else if (d->trigger)
		rc = bb_trigger__attach(s->fired, prog, prog->target->prog_fd, &slot->attached,
					err);
	if (rc)
		bb_driver__detach(slot);
	else
		*ret_slot = slot;
	return rc;
}

void bb_driver__detach(struct bb_drive_slot *slot)
{
	if (!slot)
		return;
	bb_trigger__detach(slot->attached);
	if (slot->state->driver->detach)
		slot->state->driver->detach(slot);
	free(slot);
}

int bb_driver__batch(struct bb_drive_slot *slot, uint32_t param, struct bb_batch *b,
		     struct bb_err *err)
{
	const struct bb_drive_state *s = slot->state;
	uint64_t began_ns = bb_now_ns();
	int rc = s->driver->polls ? bb_pin_to_cpu(s->opts.poll_cpu, err) : 0;

	b->target_cpu_s = NAN;
	b->elapsed_s = 0;
	if (!rc)
		rc = s->driver->batch(slot, param, b, err);
	if (!(b->elapsed_s > 0))
		b->elapsed_s = bb_seconds_since(began_ns);
	return rc;
}

int bb_batch__void_if_gone(struct bb_batch *b, int rc, const struct bb_err *err)
{
	if (rc != -ESRCH)
		return rc;
	snprintf(b->void_why, sizeof(b->void_why), "%.190s", err->msg);
	return 0;
}

int bb_pin_to_cpu(int cpu, struct bb_err *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return bb_fail(err, -errno, "cannot run on CPU %d: %m; choose another with --cpu",
			       cpu);
	return 0;
}
