/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/trigger_fire.h"

#include "drivers/companions.h"
#include "fire/discover.h"
#include "plan/field.h"

static struct bb_fire_state *states; /* list of all open states */

static int open_fire(void *state, struct bb_err *)
{
	struct bb_fire_state *s = state;
	const struct bb_driver_opts *opts = &s->common.opts;
	struct bb_fire_user user = {.uid = opts->uid,
				    .gid = opts->gid,
				    .env = opts->env,
				    .helper_dir = opts->workload_dir};

	if (!getcwd(user.dir, sizeof(user.dir)))
		user.dir[0] = '\0';
	s->next = states;
	states = s;
	s->site = bb_fire_site__share(opts->cpu, opts->poll_cpu, &user);
	return 0;
}

static void close_hooks(struct bb_fire_state *s, void (*close_one)(struct bb_hook *h))
{
	for (size_t i = 0; i < s->n_hooks; i++) {
		close_one(s->hooks[i]);
		free(s->hooks[i]);
	}
	s->n_hooks = 0;
}

void bb_fire__close_hooks(void)
{
	for (struct bb_fire_state *s = states; s; s = s->next)
		close_hooks(s, bb_hook__close_now);
}

static void close_fire(void *state)
{
	struct bb_fire_state *s = state, **at = &states;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	bb_fire_site__unshare(s->site);
	close_hooks(s, bb_hook__close);
	free(s->hooks);
	bb_live_objects__close(s->live);
	free(s->live);
}

static bool is_hook_of(const struct bb_hook *h, const struct bb_attach_point *point)
{
	return h->point.kind == point->kind && h->point.is_return == point->is_return &&
	       h->point.attach_type == point->attach_type &&
	       h->point.acts_on_all == point->acts_on_all &&
	       (point->kind == BB_AT_OWN_FUNCTION || !strcmp(h->point.target, point->target));
}

/* Finds or opens the hook for an attach point. It stays open as long as the state. *ret_hook
 * receives NULL if each process that fires needs a hook of its own there. */
static int shared_hook(struct bb_fire_state *s, const struct bb_attach_point *point,
		       struct bb_hook **ret_hook, struct bb_err *err)
{
	*ret_hook = NULL;
	if (bb_attach_kinds[point->kind].of_user || point->kind == BB_AT_STRUCT_OPS)
		return 0;
	for (size_t i = 0; i < s->n_hooks; i++)
		if (is_hook_of(s->hooks[i], point))
			*ret_hook = s->hooks[i];
	if (*ret_hook)
		return 0;
	struct bb_hook *h = bb_calloc(1, sizeof(*h));
	int rc = bb_hook__open(point, -1, s->site, true, h, err);
	if (rc) {
		free(h);
		return rc;
	}
	BB_PUSH(s->hooks, s->n_hooks, h);
	*ret_hook = h;
	return 0;
}

static int fill_usdt(struct bb_test_prog *prog, const struct bb_attach_point *point,
		     struct bb_err *err)
{
	struct bb_user_addresses *addresses = NULL;
	struct bb_user_target probe;

	if (point->kind != BB_AT_USDT)
		return 0;
	int rc = bb_user_target__find(point->target, true, &probe, &addresses, err);
	if (!rc)
		rc = bb_target__fill_usdt(prog->target, probe.path, probe.provider, probe.probe,
					  err);
	free(addresses);
	return rc;
}

static int say_in_vain(const struct bb_attach_point *point, int trigger_rc, struct bb_err *err)
{
	const struct bb_fired_by *by = point->by;
	const char *called = by ? by->call : NULL, *run = by && by->run ? by->run[0] : NULL;

	return bb_fail(err, -ENOTSUP, "%s: %s '%s' does not make it run%s%s",
		       bb_attach_point__words(point).text,
		       called ? "calling"
		       : run  ? "the command"
			      : "trigger",
		       called ? called
		       : run  ? run
			      : bb_trigger__asked_for(point),
		       trigger_rc ? "; it failed: " : "", trigger_rc ? strerror(-trigger_rc) : "");
}

static int find_at(struct bb_fire_state *s, struct bb_test_prog *prog,
		   const struct bb_attach_point *point, struct bb_err *err)
{
	struct bb_discovery d;
	struct bb_hook *hook;
	int rc = shared_hook(s, point, &hook, err);

	if (!rc)
		rc = fill_usdt(prog, point, err);
	if (!rc)
		rc = bb_discover(s->site, point, hook, &prog->target->reader, false, &d, err);
	if (rc)
		return rc;
	prog->fire = (struct bb_fire_found){d.trigger, *point, d.runs_each};
	if (!d.trigger && d.ended[0])
		rc = bb_fail(err, -ENOTSUP, "%s: %s", bb_attach_point__words(point).text, d.ended);
	else if (!d.trigger && bb_trigger__asked_for(point))
		rc = say_in_vain(point, d.n_tried ? d.tried[0].rc : 0, err);
	else if (!d.trigger)
		rc = bb_fail(err, -ENOTSUP,
			     "%s: none of the %zu triggers that were fired makes it run%s; "
			     "`bpfbench triggers` lists them",
			     bb_attach_point__words(point).text, d.n_tried,
			     s->site->netns_fd < 0 ? " (there was no network namespace)" : "");
	bb_discovery__done(&d);
	return rc;
}

/* Makes calls of bb_own_function(), or test runs, the trigger of the program, with arguments that
 * fit its attach point. Refuses a program that acts on other processes. */
static int find_on_own(struct bb_fire_state *s, struct bb_test_prog *prog,
		       struct bb_attach_point *own, struct bb_err *err)
{
	struct bb_hook *hook;
	int link_fd, rc;

	if (bb_reach__acts(prog->target))
		return bb_fail(err, -ENOTSUP,
			       "%s: it writes through what it is given, or acts on whoever runs "
			       "it, so it is run on its real event only",
			       bb_attach_point__words(own).text);
	if (!s->live) {
		s->live = bb_calloc(1, sizeof(*s->live));
		bb_live_objects__open(s->site->netns_fd, s->common.opts.object_dir, s->live);
	}
	bb_live_objects__stand_in(s->live, prog->target->program, own);
	if (own->kind == BB_AT_OWN_RUN)
		return find_at(s, prog, own, err);
	/* check that the program can be attached to our function; each call causes one run */
	rc = shared_hook(s, own, &hook, err);
	if (!rc)
		rc = bb_hook__put(hook, prog->target->prog_fd, &link_fd, err);
	if (rc)
		return rc;
	bb_hook__take_off(hook, link_fd);
	prog->fire = (struct bb_fire_found){.point = *own,
					    .trigger = &bb_triggers_function[0],
					    .runs_each = 1};
	return 0;
}

static const struct bb_trigger *named(const char *name)
{
	const struct bb_trigger *t = NULL;

	for (size_t i = 0; (t = bb_trigger_at(i)) && strcmp(t->name, name); i++)
		;
	return t;
}

static int say_no_trigger(const char *name, const struct bb_attach_point *point, struct bb_err *err)
{
	const char *names[BB_TRIGGERS_MOST];
	const struct bb_trigger *t;
	size_t n = 0;

	if (named(name))
		return bb_fail(err, -EINVAL, "trigger '%s' is not for %s", name,
			       bb_attach_point__words(point).text);
	for (size_t i = 0; (t = bb_trigger_at(i)) && n < BB_TRIGGERS_MOST; i++)
		names[n++] = t->name;
	return bb_fail(err, -EINVAL, "there is no trigger '%s'%s; `bpfbench triggers` lists them",
		       name, bb_phrase__suggest(name, names, n).text);
}

/* Takes the attach point and the trigger that the scenario names. Fails if they do not work. */
static int find_as_asked(struct bb_fire_state *s, struct bb_test_prog *prog,
			 struct bb_attach_point *point, struct bb_err *err)
{
	const char *name = bb_trigger__asked_for(point);

	if (name && (!named(name) || !bb_trigger__is_for(named(name), point)))
		return say_no_trigger(name, point, err);
	int rc = bb_reach__check(point, prog->target, err);
	if (rc && !s->common.opts.allow_system_wide)
		return rc;
	point->acts_on_all = rc;
	if (!point->pid)
		return find_at(s, prog, point, err);
	/* the process `point->pid` makes the program run; each run counts as one firing, so a
	 * window with one run gives a sample */
	prog->fire =
		(struct bb_fire_found){.point = *point, .trigger = named(name), .runs_each = 1};
	return 0;
}

/*
 * True if an event of ours may replace the program's own event, which failed with `rc`:
 *
 * - -ENOTSUP (the kernel cannot attach to the event): true.
 * - -ENOENT (the event does not exist): true if tail calls may reach the program, because it then
 *   needs no event of its own. Otherwise the section names the event by mistake.
 * - -ENOENT for a file of user space (uprobe, USDT): false, because the program needs that file.
 */
static bool may_stand_in(const struct bb_test_prog *prog, const struct bb_attach_point *point,
			 int rc)
{
	if (rc == -ENOENT && !bb_attach_kinds[point->kind].of_user)
		return bb_target__may_be_jumped_to(prog->target);
	return rc == -ENOTSUP;
}

/* Puts the position of a scenario key in front of the message. For -ENOENT (the attach point does
 * not exist) it is the key of the attach point, else that of the trigger. */
static int say_line(const struct bb_variant_spec *v, int rc, struct bb_err *err)
{
	const char *at = rc == -ENOENT || !v->fired_at ? v->binary_at : v->fired_at;

	return rc && at && err && rc != -ENOMEM ? bb_fail(err, rc, "%s: %s", at, err->msg) : rc;
}

static int find_what_fires(struct bb_fire_state *s, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_attach_point point, own;
	uint32_t type, attach_type = 0;
	const char *section = bb_target__section(prog->target, &attach_type);
	int rc = bb_target__prog_type(prog->target, &type, err);

	if (rc)
		return rc;
	if (!section)
		return bb_fail(err, -ENOTSUP, "it is not known where '%s' is to be attached",
			       prog->target->program);
	bb_attach_point__from_section(section, type, attach_type, &point);
	point.map_fd = bb_target__struct_ops_fd(prog->target);
	rc = bb_attach_point__take(&point, prog->spec, err);
	if (rc)
		return say_line(prog->spec, rc, err);
	point.self_pid = prog->self_pid;
	bb_hook__name_event(&point, prog->target->program);
	if (point.kind == BB_AT_NOWHERE && point.prog_type == BPF_PROG_TYPE_TRACEPOINT)
		return bb_fail(err, -ENOTSUP,
			       "nothing says on which tracepoint '%s' is to be, and it is named "
			       "after none that is known here",
			       prog->target->program);
	if (point.pid || point.by || prog->spec->binary)
		return say_line(prog->spec, find_as_asked(s, prog, &point, err), err);
	if (point.kind == BB_AT_NOWHERE && bb_attach_point__on_own_function(&point, &own))
		return find_on_own(s, prog, &own, err);
	rc = bb_reach__check(&point, prog->target, err);
	if (rc && !s->common.opts.allow_system_wide)
		return rc;
	point.acts_on_all = rc;
	rc = find_at(s, prog, &point, err);
	if (may_stand_in(prog, &point, rc) &&
	    (bb_attach_point__on_own_function(&point, &own) ||
	     bb_attach_point__by_own_run(&point, &own)) &&
	    !find_on_own(s, prog, &own, NULL))
		rc = 0;
	return rc;
}

/* Searches for a trigger only once for each program. */
static int probe_fire(void *state, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_fire_state *s = state;
	struct bb_stats_enable stats;

	if (prog->fire.trigger)
		return 0;
	int rc = bb_pin_to_cpu(s->common.opts.cpu, err);
	if (!rc)
		rc = bb_stats_enable__on(&stats, err);
	if (rc)
		return rc;
	rc = find_what_fires(s, prog, err);
	bb_stats_enable__off(&stats);
	if (!rc) {
		bb_companions__open(prog, s->common.opts.allow_system_wide);
		bb_arguments__choose(s, prog);
	}
	if (rc == -ENOENT && err)
		err->code = -ENOTSUP; /* err->msg stays as it is */
	return rc == -ENOENT ? -ENOTSUP : rc;
}

static void say_fired(const struct bb_test_prog *prog, size_t n_beside, char *ret_words,
		      size_t size)
{
	const struct bb_fire_found *found = &prog->fire;
	char mean[64] = "", beside[64] = "";

	ret_words[0] = '\0';
	if (!found->trigger)
		return;
	if (found->runs_each > 1)
		snprintf(mean, sizeof(mean), ", mean of %u runs%s", found->runs_each,
			 found->point.kind == BB_AT_ITER ? " or so" : "");
	if (n_beside)
		snprintf(beside, sizeof(beside), "; with %zu other%s attached", n_beside,
			 bb_plural(n_beside));
	snprintf(ret_words, size, "%s (%s%s%s%s%s)", found->trigger->name,
		 bb_attach_point__words(&found->point).text, mean, found->point.said[0] ? "; " : "",
		 found->point.said, beside);
}

static void say_fired_with_others(const struct bb_input *, const struct bb_test_prog *prog,
				  char *ret_words, size_t size)
{
	const struct bb_test_prog *others[BB_BESIDE_MOST];

	say_fired(prog, bb_beside__find(prog, others), ret_words, size);
}

void bb_fire__words_alone(const struct bb_input *, const struct bb_test_prog *prog, char *ret_words,
			  size_t size)
{
	say_fired(prog, 0, ret_words, size);
}

void bb_fire__detach_program(struct bb_fire_slot *slot)
{
	for (size_t i = 0; i < slot->n_beside; i++)
		if (slot->beside[i].hook == &slot->beside[i].own_hook)
			bb_hook__close(slot->beside[i].hook);
	free(slot->beside);
	slot->beside = NULL;
	slot->n_beside = 0;
	if (slot->hook == &slot->own_hook)
		bb_hook__close(slot->hook);
	slot->hook = NULL;
	bb_firer__stop(&slot->firer);
}

/* Finds a hook at `point` that the state keeps open. If processes cannot share a hook there, opens
 * `own` for the process that fires. */
static int open_hook(struct bb_fire_slot *slot, const struct bb_attach_point *point,
		     struct bb_hook *own, struct bb_hook **ret_hook, struct bb_err *err)
{
	int rc = shared_hook(slot->state, point, ret_hook, err);

	if (rc || *ret_hook)
		return rc;
	rc = bb_hook__open(point, bb_firer__probed(&slot->firer, point), slot->state->site, true,
			   own, err);
	*ret_hook = rc ? NULL : own;
	return rc;
}

void bb_fire_slot__init(struct bb_fire_slot *slot, struct bb_fire_state *s,
			struct bb_test_prog *prog, int prog_fd)
{
	slot->state = s;
	slot->found = &prog->fire;
	slot->common = (struct bb_attached){.state = &s->common,
					    .target = prog->target,
					    .prog_fd = prog_fd,
					    .runs_each = prog->fire.runs_each,
					    .takes_all = prog->fire.point.kind == BB_AT_ITER,
					    .waits = prog->fire.point.pid != 0};
}

int bb_fire__attach_program(struct bb_fire_state *s, struct bb_test_prog *prog, int prog_fd,
			    void *arg, size_t shared_bytes, struct bb_fire_slot *slot,
			    struct bb_err *err)
{
	const struct bb_test_prog *others[BB_BESIDE_MOST];
	int rc = probe_fire(s, prog, err);

	bb_fire_slot__init(slot, s, prog, prog_fd);
	if (!rc && prog->fire.point.kind == BB_AT_STRUCT_OPS) {
		prog->fire.point.map_fd = bb_target__struct_ops_fd(prog->target);
		/* the map refers to the program itself, so the kernel would not run a clone */
		if (prog_fd != prog->target->prog_fd)
			rc = bb_fail(err, -ENOTSUP,
				     "the kernel calls it as a member of a struct of functions, "
				     "and no clone of it can be put there");
	}
	if (!rc)
		rc = fill_usdt(prog, &prog->fire.point, err);
	if (!rc)
		rc = bb_pin_to_cpu(s->common.opts.cpu, err);
	if (!rc)
		rc = bb_firer__start(s->site, &prog->fire.point, arg, shared_bytes, &slot->firer,
				     err);
	if (!rc)
		rc = open_hook(slot, &prog->fire.point, &slot->own_hook, &slot->hook, err);
	if (rc) {
		bb_fire__detach_program(slot);
		return rc;
	}
	bb_companions__open(prog, s->common.opts.allow_system_wide);
	slot->n_beside = bb_beside__find(prog, others);
	slot->beside = bb_calloc(slot->n_beside, sizeof(*slot->beside));
	for (size_t i = 0; i < slot->n_beside; i++) {
		struct bb_fire_beside *b = &slot->beside[i];

		b->target = others[i]->target;
		/* if the hook cannot be opened, the program is not attached */
		open_hook(slot, &others[i]->fire.point, &b->own_hook, &b->hook, NULL);
	}
	return 0;
}

#define BATCH_MOST 4096u

/* Memory that our process shares with the child process that fires. */
struct shared {
	struct bb_batch batch; /* its `ns` and `paths` point to the arrays below */
	uint64_t ns[BATCH_MOST], paths[BATCH_MOST];
	struct bb_instrument_part part;
	int trigger_rc; /* -errno of the last failed firing, or 0 */
};

static int attach(void *attached, struct bb_test_prog *prog, struct bb_err *err)
{
	struct bb_fire_slot *slot = attached;

	return bb_fire__attach_program((struct bb_fire_state *)slot->common.state, prog,
				       slot->common.prog_fd, slot, sizeof(struct shared), slot,
				       err);
}

static void detach(void *attached)
{
	bb_fire__detach_program(attached);
}

int bb_fire__do(struct bb_fire_slot *slot,
		int (*work)(void *arg, struct bb_fire_task *t, void *shared), struct bb_err *err)
{
	int link_fd, rc;

	for (size_t i = 0; i < slot->n_beside; i++) {
		struct bb_fire_beside *b = &slot->beside[i];
		int fd = b->target->prog_fd;

		if (!b->hook || fd < 0 || bb_hook__put(b->hook, fd, &b->link_fd, NULL))
			b->link_fd = -1;
	}
	rc = bb_hook__put(slot->hook, slot->common.prog_fd, &link_fd, err);
	if (!rc) {
		rc = bb_firer__do(&slot->firer, work, err);
		bb_hook__take_off(slot->hook, link_fd);
	}
	for (size_t i = 0; i < slot->n_beside; i++)
		if (slot->beside[i].hook)
			bb_hook__take_off(slot->beside[i].hook, slot->beside[i].link_fd);
	return rc;
}

int bb_fire__trigger(struct bb_fire_slot *slot, struct bb_fire_task *t)
{
	int rc = slot->has_rings ? 0 : bb_target__after_fork(slot->common.target);

	slot->has_rings |= !rc;
	if (rc || slot->is_open)
		return rc;
	t->in_work = slot->found->trigger;
	if (slot->common.state->cold)
		bb_cold__after_fork(slot->common.state->cold);
	rc = bb_firing__open(&slot->firing, slot->found->trigger, &slot->found->point,
			     slot->common.prog_fd, t);
	slot->is_open = !rc;
	return rc;
}

/* Called in the process that fires. */
static int fire_there(void *arg, struct bb_fire_task *t, void *shared_)
{
	struct bb_fire_slot *slot = arg;
	struct shared *shared = shared_;
	const struct bb_instrument_part *part = &shared->part;
	const struct bb_attached *a = &slot->common;
	struct bb_batch *b = &shared->batch;
	uint64_t began_ns = bb_now_ns();
	struct bb_prog_stats unused;
	int rc = bb_fire__trigger(slot, t);

	if (!rc)
		rc = part->begin(a, part->arg, b);
	while (!rc) {
		rc = bb_target__reset_for_run(a->target);
		if (rc)
			break;
		if (a->state->cold)
			bb_cold__empty(a->state->cold);
		int fire_rc = bb_firing__fire(&slot->firing);
		/* go on after a failure: the counters show whether the firing caused a run */
		if (fire_rc)
			shared->trigger_rc = fire_rc;
		t->beats++;
		if (!slot->found->trigger->fire && !part->reads_counters)
			rc = bb_stats_reader__info(&a->target->reader, &unused);
		if (!rc)
			rc = part->after(a, part->arg, b, true);
	}
	b->elapsed_s = bb_seconds_since(began_ns);
	return rc == 1 ? 0 : rc;
}

static int fire(void *attached, uint32_t, const struct bb_instrument_part *part, struct bb_batch *b,
		struct bb_err *err)
{
	struct bb_fire_slot *slot = attached;
	struct shared *shared = slot->firer.shared;
	struct bb_batch *both = &shared->batch;
	uint64_t *ns = b->ns, *paths = b->paths;

	*both = *b;
	both->ns = shared->ns;
	both->paths = paths ? shared->paths : NULL;
	if (both->want > BATCH_MOST)
		both->want = BATCH_MOST;
	/* The first run is discarded. If readings of the counters make the program run, the first
	 * window may have another number of runs than later ones. */
	if (!both->warmup)
		both->warmup = 1;
	shared->part = *part;
	shared->trigger_rc = 0;
	int rc = bb_fire__do(slot, fire_there, err);
	*b = *both;
	b->ns = ns;
	b->paths = paths;
	memcpy(ns, shared->ns, b->n * sizeof(*ns));
	if (paths)
		memcpy(paths, shared->paths, b->n * sizeof(*paths));
	if (!b->void_why[0] && !b->n && !b->fired && slot->found->point.pid)
		snprintf(b->void_why, sizeof(b->void_why), "process %u did not run it meanwhile",
			 slot->found->point.pid);
	if (!b->void_why[0] && !b->n && b->fired)
		snprintf(b->void_why, sizeof(b->void_why),
			 "'%s' was fired %llu time%s, and the program never ran exactly %u "
			 "time%s%s%s",
			 slot->found->trigger->name, (unsigned long long)b->fired,
			 bb_plural(b->fired), slot->found->runs_each,
			 bb_plural(slot->found->runs_each),
			 shared->trigger_rc ? "; the last failed: " : "",
			 shared->trigger_rc ? strerror(-shared->trigger_rc) : "");
	return rc;
}

const struct bb_drive_trigger bb_trigger_fire = {
	.by = "fire",
	.doc = "attach it where its section says, do what makes its event happen",
	.keys = {{"trigger"}, {"caches"}, {"samples"}},
	.shares_events = true,
	.whole_object = true,
	.may_be_slow = true,
	.reading_may_fire = true,
	.state_bytes = sizeof(struct bb_fire_state),
	.attached_bytes = sizeof(struct bb_fire_slot),
	.open = open_fire,
	.probe = probe_fire,
	.attach = attach,
	.fire = fire,
	.detach = detach,
	.fired_by = say_fired_with_others,
	.close = close_fire,
};
