/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/fire.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"
#include "bpf/stats_enable.h"
#include "fire/discover.h"
#include "fire/later.h"
#include "fire/reach.h"

int bb_fire__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		  void **ret_state, struct bb_err *err)
{
	struct bb_fire_state *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return bb_fail_nomem(err);
	s->spec = spec;
	s->opts = *opts;
	rc = bb_fire_place__open(opts->cpu, opts->poll_cpu, &s->place, err);
	if (!rc && spec->caches == BB_CACHES_COLD)
		rc = bb_cold__open("", opts->cpu, &s->cold, err);
	if (rc)
		bb_fire__close(s);
	else
		*ret_state = s;
	return rc;
}

void bb_fire__close(void *state)
{
	struct bb_fire_state *s = state;

	if (!s)
		return;
	bb_fire_place__close(&s->place);
	for (size_t i = 0; i < 2; i++)
		if (s->has_own[i])
			bb_hook__close(&s->own[i]);
	bb_live_objects__close(s->live);
	free(s->live);
	bb_cold__free(s->cold);
	free(s);
}

/* --- hooks --- */

/* The one for our own function, open as long as the state; NULL: it is to be opened for a slot. */
static int shared_hook(struct bb_fire_state *s, const struct bb_attach_point *point,
		       struct bb_hook **ret_hook, struct bb_err *err)
{
	bool i = point->is_return;
	int rc = 0;

	*ret_hook = NULL;
	if (point->kind != BB_AT_OWN_FUNCTION)
		return 0;
	if (!s->has_own[i])
		rc = bb_hook__open(point, -1, s->place.cgroup_fd, &s->own[i], err);
	s->has_own[i] = !rc;
	*ret_hook = rc ? NULL : &s->own[i];
	return rc;
}

/* --- which trigger --- */

static int find_at(struct bb_fire_state *s, struct bb_test_prog *subject,
		   const struct bb_attach_point *point, struct bb_err *err)
{
	struct bb_fire_found *found = &subject->fire;
	struct bb_target *target = subject->target;
	struct bb_discovery d;
	struct bb_hook *hook;
	int rc = shared_hook(s, point, &hook, err);

	if (!rc)
		rc = bb_discover(&s->place, point, hook, bb_target__prog_fd(target),
				 bb_target__reader(target), false, &d, err);
	if (rc)
		return rc;
	found->point = *point;
	found->trigger = d.trigger;
	found->runs_each = d.runs_each;
	if (!d.trigger && d.ended[0])
		rc = bb_fail(err, -ENOTSUP, "%s: %s", bb_attach_point__words(point).text, d.ended);
	else if (!d.trigger)
		rc = bb_fail(err, -ENOTSUP,
			     "%s: none of the %zu triggers that were fired makes it run%s; "
			     "`bpfbench triggers` lists them",
			     bb_attach_point__words(point).text, d.n_tried,
			     s->place.netns_fd < 0 ? " (there was no network namespace)" : "");
	bb_discovery__done(&d);
	return rc;
}

/* On a function of ours, with arguments that are made for the one that it is for. */
static int find_on_own(struct bb_fire_state *s, struct bb_test_prog *subject,
		       struct bb_attach_point *own, struct bb_err *err)
{
	if (bb_reach__acts(subject->target))
		return bb_fail(err, -ENOTSUP,
			       "%s: it writes through what it is given, or acts on whoever runs "
			       "it, "
			       "so it is run on its real event only",
			       bb_attach_point__words(own).text);
	if (!s->live) {
		s->live = calloc(1, sizeof(*s->live));
		if (!s->live)
			return bb_fail_nomem(err);
		bb_live_objects__open(s->place.netns_fd, s->opts.object_dir, s->live);
	}
	bb_live_objects__make_arguments(s->live, own);
	return find_at(s, subject, own, err);
}

static int find(struct bb_fire_state *s, struct bb_test_prog *subject, struct bb_err *err)
{
	struct bb_attach_point point, own;
	struct bb_err unsaid = {0};
	uint32_t type, attach_type = 0;
	const char *section = bb_target__section(subject->target, &attach_type);
	int rc = bb_target__prog_type(subject->target, &type, err);

	if (rc)
		return rc;
	if (!section)
		return bb_fail(err, -ENOTSUP, "it is not known where '%s' is to be attached",
			       bb_target__program(subject->target));
	bb_attach_point__from_section(section, type, attach_type, &point);
	if (point.kind == BB_AT_NOWHERE && bb_attach_point__on_own_function(&point, &own))
		return find_on_own(s, subject, &own, err);
	rc = s->opts.allow_system_wide ? 0 : bb_reach__check(&point, subject->target, err);
	if (rc)
		return rc;
	rc = find_at(s, subject, &point, err);
	/* where the real event cannot be had, arguments are made for it */
	if (rc == -ENOTSUP && bb_attach_point__on_own_function(&point, &own) &&
	    !find_on_own(s, subject, &own, &unsaid))
		rc = 0;
	return rc;
}

int bb_fire__probe(void *state, struct bb_test_prog *subject, struct bb_err *err)
{
	struct bb_stats_enable stats;
	int rc;

	if (subject->fire.trigger)
		return 0;
	rc = bb_pin_to_cpu(((struct bb_fire_state *)state)->opts.cpu, err);
	if (!rc)
		rc = bb_stats_enable__on(&stats, err);
	if (rc)
		return rc;
	rc = find(state, subject, err);
	bb_stats_enable__off(&stats);
	return rc;
}

void bb_fire__words(const struct bb_test_prog *subject, char *ret_words, size_t size)
{
	const struct bb_fire_found *found = &subject->fire;
	char mean[64] = "";

	ret_words[0] = '\0';
	if (!found->trigger)
		return;
	if (found->runs_each > 1)
		snprintf(mean, sizeof(mean), ", mean of %u runs", found->runs_each);
	snprintf(ret_words, size, "%s (%s%s%s%s)", found->trigger->name,
		 bb_attach_point__words(&found->point).text, mean, found->point.said[0] ? "; " : "",
		 found->point.said);
}

/* --- a load of the program --- */

void bb_fire__detach_program(struct bb_fire_slot *slot)
{
	if (slot->hook == &slot->own_hook)
		bb_hook__close(slot->hook);
	slot->hook = NULL;
	bb_firer__stop(&slot->firer);
}

int bb_fire__attach_program(void *state, struct bb_test_prog *subject, int prog_fd, void *arg,
			    size_t shared_bytes, struct bb_fire_slot *slot, struct bb_err *err)
{
	struct bb_fire_state *s = state;
	int rc = subject->fire.trigger ? 0 : bb_fire__probe(state, subject, err);

	slot->state = s;
	slot->target = subject->target;
	slot->found = &subject->fire;
	slot->prog_fd = prog_fd;
	if (!rc)
		rc = bb_pin_to_cpu(s->opts.cpu, err);
	if (!rc)
		rc = bb_firer__start(&s->place, arg, shared_bytes, &slot->firer, err);
	if (!rc)
		rc = shared_hook(s, &subject->fire.point, &slot->hook, err);
	if (!rc && !slot->hook) {
		rc = bb_hook__open(&subject->fire.point, slot->firer.pid, s->place.cgroup_fd,
				   &slot->own_hook, err);
		slot->hook = rc ? NULL : &slot->own_hook;
	}
	if (rc)
		bb_fire__detach_program(slot);
	return rc;
}

int bb_fire__attach(void *state, struct bb_test_prog *subject, void **ret_slot, struct bb_err *err)
{
	struct bb_fire_slot *slot = calloc(1, sizeof(*slot));
	int rc = slot ? bb_fire__attach_program(state, subject, bb_target__prog_fd(subject->target),
						slot, sizeof(struct bb_fire_shared), slot, err)
		      : bb_fail_nomem(err);

	if (rc)
		free(slot);
	else
		*ret_slot = slot;
	return rc;
}

void bb_fire__detach(void *state, void *slot)
{
	(void)state;
	if (slot)
		bb_fire__detach_program(slot);
	free(slot);
}

/* --- a batch --- */

static void say_refused(const struct bb_fire_slot *slot, struct bb_batch *b)
{
	const struct bb_fire_shared *shared = slot->firer.shared;

	if (!b->void_why[0] && !b->n && b->fired)
		snprintf(b->void_why, sizeof(b->void_why),
			 "%llu firings of '%s', and none that brought %u run%s and no other%s%s",
			 (unsigned long long)b->fired, slot->found->trigger->name,
			 slot->found->runs_each, slot->found->runs_each == 1 ? "" : "s",
			 shared->trigger_rc ? "; the last failed: " : "",
			 shared->trigger_rc ? strerror(-shared->trigger_rc) : "");
}

int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err)
{
	int link_fd, rc = bb_hook__put(slot->hook, slot->prog_fd, &link_fd, err);

	if (rc)
		return rc;
	rc = bb_firer__do(&slot->firer, work, err);
	bb_close_later(link_fd);
	return rc;
}

int bb_fire__batch(struct bb_fire_slot *slot,
		   int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_batch *b,
		   struct bb_err *err)
{
	struct bb_fire_shared *shared = slot->firer.shared;
	struct bb_batch *both = &shared->batch;
	uint64_t *ns = b->ns, *paths = b->paths;
	int rc;

	*both = *b;
	both->ns = shared->ns;
	both->paths = paths ? shared->paths : NULL;
	if (both->want > BB_FIRE_BATCH_MOST)
		both->want = BB_FIRE_BATCH_MOST;
	shared->trigger_rc = 0;
	rc = bb_fire__do(slot, work, err);
	*b = *both;
	b->ns = ns;
	b->paths = paths;
	memcpy(ns, shared->ns, b->n * sizeof(*ns));
	if (paths)
		memcpy(paths, shared->paths, b->n * sizeof(*paths));
	say_refused(slot, b);
	return rc;
}

int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t)
{
	int rc;

	if (slot->is_open)
		return 0;
	bb_target__after_fork(slot->target);
	t->in_work = slot->found->trigger;
	rc = bb_firing__open(&slot->firing, slot->found->trigger, &slot->found->point,
			     slot->state->place.other_cpu);
	slot->is_open = !rc;
	return rc;
}

const struct bb_drive_key bb_fire_keys[] = {
	{.name = "trigger"},
	{.name = "caches"},
	{.name = "samples"},
	{0},
};
