/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/session.h"

#include "base/child.h"
#include "base/deadline.h"
#include "base/text.h"
#include "bpf/kept_maps.h"
#include "env/checks.h"
#include "run/record.h"

/* most repeated checks whether bpf_stats is off, and the pause before each, ns */
#define STATS_LOOKS 5
#define STATS_PAUSE_NS 200000000

size_t bb_session__variant(const struct bb_session *s, const struct bb_plan_case *c)
{
	return (size_t)(c->variant - s->plan->scenario->variants);
}

size_t bb_session__drive(const struct bb_session *s, const struct bb_plan_case *c)
{
	return (size_t)(c->drive - s->plan->scenario->drives);
}

const struct bb_plan_case *bb_session__find_case(const struct bb_session *s, size_t drive,
						 size_t variant)
{
	return BB_FIND(s->plan->cases, s->plan->n_cases,
		       bb_session__drive(s, it) == drive && bb_session__variant(s, it) == variant);
}

static bool *refused(const struct bb_session *s, size_t drive, size_t variant)
{
	return &s->refused[drive * s->plan->scenario->n_variants + variant];
}

bool bb_session__can(const struct bb_session *s, const struct bb_plan_case *c)
{
	size_t variant = bb_session__variant(s, c), drive = bb_session__drive(s, c);

	return s->usable[variant] && s->drives[drive].driver && !*refused(s, drive, variant);
}

bool bb_session__can_time(const struct bb_session *s, const struct bb_plan_case *c)
{
	return bb_session__can(s, c) && !s->drives[bb_session__drive(s, c)].driver->kind.counts;
}

char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v,
		     const char *object_dir)
{
	const char *name = v->object ? v->object : s->object, *slash = strrchr(s->path, '/');
	char *path = NULL, *beside = NULL;

	if (name[0] == '/')
		return bb_strdup(name);
	if (object_dir && !strchr(name, '/')) {
		path = bb_asprintf("%s/%s", object_dir, name);
		if (!access(path, F_OK))
			return path;
	}
	if (!slash)
		return path ? path : bb_strdup(name);
	/* if the file beside the scenario is missing, too, the error will name `path` */
	beside = bb_asprintf("%.*s/%s", (int)(slash - s->path), s->path, name);
	if (path && access(beside, F_OK)) {
		free(beside);
		return path;
	}
	free(path);
	return beside;
}

/* Adds a skip and returns 0 if `rc` is -ENOTSUP or the options skip failures. Always returns
 * -EINTR, -ETIME and, if no program may be left to another session, -ENOMEM. */
static int skip_or_fail(struct bb_session *s, const char *what, int rc, struct bb_err *err)
{
	const char *why = err ? err->msg : "not supported here";
	char line[1024];

	rc = bb_unless_broken_off(rc);
	if (!rc ||
	    (rc != -ENOTSUP && (!s->opts->skip_failing || (rc == -ENOMEM && !s->opts->put_off) ||
				rc == -EINTR || rc == -ETIME)))
		return rc;
	if (rc != -ENOTSUP && !s->failed)
		s->failed = rc;
	/* leaves out the verifier log after the first line */
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(why, "\n"), why);
	bb_record__skip(s->report, line, "%s/%s", s->plan->scenario->name, what);
	return 0;
}

static bool has_whole_object(const struct bb_session *s, size_t variant)
{
	return BB_ANY(s->plan->cases, s->plan->n_cases,
		      bb_session__variant(s, it) == variant && it->drive->kind->whole_object);
}

/* If a drive runs whole objects, the program uses the maps of its object's first program. */
static void use_maps_of_object(struct bb_session *s, size_t variant)
{
	struct bb_test_prog *prog = &s->progs[variant];

	prog->all = s->progs;
	prog->n_all = s->plan->scenario->n_variants;
	if (!prog->target || !has_whole_object(s, variant))
		return;
	for (size_t i = 0; i < prog->n_all; i++)
		if (i != variant && s->usable[i] && has_whole_object(s, i) &&
		    bb_target__is_of_object(prog->target, s->progs[i].target)) {
			bb_target__borrow_maps(prog->target, s->progs[i].target);
			return;
		}
}

static int open_variant(struct bb_session *s, size_t i, struct bb_err *err)
{
	const struct bb_scenario *sc = s->plan->scenario;
	const struct bb_variant_spec *v = &sc->variants[i];
	/* true if the time was over just after an earlier recording, or if this is a copy of the
	 * variant for another size of its maps */
	bool is_recorded = BB_ANY(s->report->programs, s->report->n_programs,
				  !strcmp(it->scenario, sc->name) && !strcmp(it->variant, v->name));
	bool needs_bpf = s->needs_bpf;
	char *path = NULL;

	if (needs_bpf && !bb_variant_is_live(v) && !strcmp(v->sampler, "program"))
		path = bb_object_path(sc, v, s->opts->driver.object_dir);
	int rc = bb_test_prog__open(v, path, &s->progs[i], err);
	free(path);
	s->progs[i].in_place = needs_bpf && !s->progs[i].target;
	if (!rc)
		use_maps_of_object(s, i);
	if (!rc)
		rc = bb_test_prog__load(&s->progs[i], &s->rng, BB_ANYWHERE, 1, err);
	if (!rc && s->progs[i].target && !is_recorded)
		rc = bb_record__program(s->report, sc, &s->progs[i], err);
	if (!rc) /* finds faults in the scenario's map entries before anything is measured */
		rc = bb_test_prog__reset_maps(&s->progs[i], err);
	return rc;
}

/* Turns -ETIME into 0 and sets out_of_time, because the run continues with the loaded programs. */
static int unless_late(struct bb_session *s, int rc)
{
	s->out_of_time |= rc == -ETIME;
	return rc == -ETIME ? 0 : rc;
}

/* Returns -ENOTSUP if another process keeps bpf_stats on for more than a second. */
static int check_stats_are_off(struct bb_err *err)
{
	const struct timespec pause = {.tv_nsec = STATS_PAUSE_NS};
	const struct bb_check *held = bb_checks;
	struct bb_check_result r;

	while (strcmp(held->name, "bpf_stats_held"))
		held++;
	held->run(held, &r);
	for (int i = 0; i < STATS_LOOKS && r.status == BB_CHECK_WARN && !bb_must_end(); i++) {
		nanosleep(&pause, NULL);
		held->run(held, &r);
	}
	return r.status == BB_CHECK_WARN ? bb_fail(err, -ENOTSUP, "%s; %s", r.text, r.remedy) : 0;
}

static int open_drive(struct bb_session *s, const struct bb_drive_spec *spec, struct bb_err *err)
{
	struct bb_open_drive *d = &s->drives[spec - s->plan->scenario->drives];
	int rc = 0;

	d->driver = bb_driver_of(spec->kind);
	if (spec->kind->stats_off && !spec->kind->counts)
		rc = check_stats_are_off(err);
	if (!rc)
		rc = bb_driver__open(spec, &s->opts->driver, &d->state, err);
	if (rc)
		d->driver = NULL;
	return skip_or_fail(s, bb_drive_name(spec), rc, err);
}

/* largest share of memory for programs, because measuring needs memory, too */
#define MEMORY_SHARE 0.75

/* Returns true if the variant, opened with the result `rc`, must be left to another session for
 * lack of memory. One program besides floors is always kept. */
static bool has_no_room(const struct bb_session *s, const struct bb_plan_case *c, int rc)
{
	return s->opts->put_off &&
	       (rc == -ENOMEM || (!rc && !bb_plan_case__is_floor(c) &&
				  bb_memory_available() < (1 - MEMORY_SHARE) * s->memory)) &&
	       BB_ANY(s->plan->cases, s->plan->n_cases,
		      s->usable[bb_session__variant(s, it)] && !bb_plan_case__is_floor(it));
}

static int take_variant(struct bb_session *s, const struct bb_plan_case *c, struct bb_err *err)
{
	size_t v = bb_session__variant(s, c);
	int rc = open_variant(s, v, err);

	if (has_no_room(s, c, rc)) {
		bb_test_prog__close(&s->progs[v]);
		s->opts->put_off[v] = true;
		return 0;
	}
	s->usable[v] = !rc;
	s->late[v] = rc == -ETIME;
	s->n_loaded += rc != -ETIME;
	return skip_or_fail(s, c->variant->name, rc, err);
}

static int open_all(struct bb_session *s, struct bb_err *err)
{
	const struct bb_plan *plan = s->plan;
	size_t n_variants = plan->scenario->n_variants;
	/* which ones were opened: first each variant, then each drive */
	bool *seen = bb_calloc(n_variants + plan->scenario->n_drives, sizeof(*seen));
	int rc = 0;

	for (size_t v = 0; s->opts->only && v < n_variants; v++)
		seen[v] = !s->opts->only[v];
	/* drives come first, because a program may have to know where it will be fired */
	for (size_t k = 0; !rc && !s->out_of_time && k < 2 * plan->n_cases; k++) {
		bool is_drive = k < plan->n_cases;
		const struct bb_plan_case *c = &plan->cases[k % plan->n_cases];
		/* the first process of a run has counted, so later ones skip drives that count */
		bool is_done = s->opts->before && c->drive->kind->counts;
		bool *it = &seen[is_drive ? n_variants + bb_session__drive(s, c)
					  : bb_session__variant(s, c)];

		rc = bb_must_end_why();
		if (!rc && !*it && !is_done) {
			*it = true;
			rc = is_drive ? open_drive(s, c->drive, err) : take_variant(s, c, err);
		}
		rc = unless_late(s, rc);
	}
	for (size_t i = 0; !rc && s->out_of_time && i < plan->n_cases; i++) {
		size_t v = bb_session__variant(s, &plan->cases[i]);

		s->late[v] |= !seen[v];
	}
	free(seen);
	return rc;
}

/* Checks whether a drive can make a program run and measure it. A live program belongs to another
 * process, so it is never attached to further events. */
static int probe(const struct bb_open_drive *d, struct bb_test_prog *prog, struct bb_err *err)
{
	if (bb_variant_is_live(prog->spec) && !d->driver->kind.read_only)
		return bb_fail(err, -ENOTSUP,
			       "'%s' would attach the program to events of bpfbench's, and it is a "
			       "live program; 'with: live' measures it under its own load, "
			       "'trigger: test-run' by test runs",
			       d->driver->kind.with);
	if (d->driver->kind.needs_bpf && !d->driver->kind.any_sampler && !prog->target)
		return bb_fail(err, -ENOTSUP, "the variant has no BPF program");
	return bb_driver__probe(d->state, prog, err);
}

/* Checks each drive with each of its programs. A refusal becomes a skip. */
static int probe_all(struct bb_session *s, struct bb_err *err)
{
	const struct bb_scenario *sc = s->plan->scenario;
	int rc = 0;

	for (size_t d = 0; !rc && d < sc->n_drives; d++) {
		const struct bb_driver *driver = s->drives[d].driver;

		for (size_t v = 0; !rc && driver && v < sc->n_variants; v++) {
			char what[256];

			if (!s->usable[v] || !bb_session__find_case(s, d, v))
				continue;
			rc = bb_must_end_why();
			if (!rc)
				rc = probe(&s->drives[d], &s->progs[v], err);
			*refused(s, d, v) = rc != 0;
			s->late[v] |= rc == -ETIME;
			s->n_tried += rc != -ETIME;
			snprintf(what, sizeof(what), "%s/%s", sc->variants[v].name,
				 bb_drive_name(&sc->drives[d]));
			rc = unless_late(s, skip_or_fail(s, what, rc, err));
		}
	}
	return rc;
}

/* Returns true if a case can be measured. Floors count only if the plan has nothing else. */
static bool anything_left(const struct bb_session *s)
{
	bool floors = false, others = false, only_floors = true;

	for (size_t i = 0; i < s->plan->n_cases; i++) {
		const struct bb_plan_case *c = &s->plan->cases[i];
		bool is_floor = bb_plan_case__is_floor(c);

		only_floors &= is_floor;
		if (bb_session__can(s, c))
			*(is_floor ? &floors : &others) = true;
	}
	return only_floors ? floors : others;
}

/* Opens late variants until one can be measured. Call it if none was loaded in time. */
static int open_late(struct bb_session *s, struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->plan->n_cases && !anything_left(s); i++) {
		const struct bb_plan_case *c = &s->plan->cases[i];
		size_t v = bb_session__variant(s, c);

		if (!s->late[v])
			continue;
		rc = bb_must_end_why();
		if (rc)
			break;
		bb_test_prog__close(&s->progs[v]);
		rc = take_variant(s, c, err);
	}
	return unless_late(s, rc);
}

/* Adds a skip that names the late programs, with an estimate of the budget for all. */
static void say_late(const struct bb_session *s, double load_s, double try_s)
{
	const struct bb_scenario *sc = s->plan->scenario;
	char *names = NULL, *why;
	double all_load_s, all_try_s, all_s;
	size_t n = 0, all = 0;

	for (size_t v = 0; v < sc->n_variants; v++) {
		n += s->late[v];
		all += s->late[v] || s->usable[v];
		if (s->late[v])
			bb_add_words(&names, ", ", "%s", sc->variants[v].name);
	}
	if (!n)
		return;
	all_load_s = load_s * (double)all / fmax((double)s->n_loaded, 1);
	all_try_s = try_s * (double)s->plan->n_cases / fmax((double)s->n_tried, 1);
	/* loading gets a quarter of the budget, and together with trying half of it */
	all_s = ceil(fmax(4 * all_load_s, 2 * (all_load_s + all_try_s)));
	why = bb_asprintf("half of the budget of %g s was used up before they were loaded and "
			  "tried, and all would take about %.0f s (--budget %.0f): %s",
			  s->opts->budget_s, all_s, all_s, names);
	bb_record__skip(s->report, why, "%s: %zu of %zu programs", sc->name, n, all);
	free(names);
	free(why);
}

static int say_nothing_left(const struct bb_session *s, struct bb_err *err)
{
	if (s->out_of_time)
		return bb_fail(err, -ETIME,
			       "scenario '%s': half of the budget of %g s was used up before any "
			       "program was loaded and tried; --budget gives more",
			       s->plan->scenario->name, s->opts->budget_s);
	return bb_fail(err, s->failed ? s->failed : -ENOTSUP,
		       "scenario '%s': nothing of it can be measured here; the lines that say "
		       "'skipped' have the reasons",
		       s->plan->scenario->name);
}

int bb_session__open(const struct bb_plan *plan, const struct bb_run_opts *opts,
		     struct bb_report *report, struct bb_session *ret_session, struct bb_err *err)
{
	const struct bb_scenario *sc = plan->scenario;
	const struct bb_child_place place = {.uid = opts->driver.uid,
					     .gid = opts->driver.gid,
					     .env = opts->driver.env};
	struct bb_session s = {.plan = plan, .opts = opts, .report = report, .stats = {.fd = -1}};
	double left_s = bb_deadline_left_s(), load_s;
	struct bb_deadline half, quarter;
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	s.needs_bpf = BB_ANY(plan->cases, plan->n_cases, it->drive->kind->needs_bpf);
	s.memory = bb_memory_available();
	bb_open_files__allow_more();
	bb_rng_seed(&s.rng, opts->seed);
	s.progs = bb_calloc(sc->n_variants, sizeof(*s.progs));
	s.usable = bb_calloc(sc->n_variants, sizeof(*s.usable));
	s.late = bb_calloc(sc->n_variants, sizeof(*s.late));
	s.drives = bb_calloc(sc->n_drives, sizeof(*s.drives));
	s.refused = bb_calloc(sc->n_drives * sc->n_variants, sizeof(*s.refused));
	bb_deadline__begin(&half, isinf(left_s) ? 0 : fmax(left_s / 2, 1e-3));
	/* opening gets half of the time left, and loading half of this, because drives are tried
	 * later */
	bb_deadline__begin(&quarter, isinf(left_s) ? 0 : fmax(left_s / 4, 1e-3));
	rc = bb_setup__open(sc->setup, sc->n_setup, &place, &s.setup, err);
	if (!rc)
		rc = open_all(&s, err);
	bb_deadline__end(&quarter);
	if (!rc && s.out_of_time && !anything_left(&s)) {
		bb_deadline__end(&half);
		rc = open_late(&s, err);
		/* trying the drives may use all of the budget that is left */
		bb_deadline__begin(&half, 0);
	}
	load_s = bb_seconds_since(began_ns);
	if (!rc)
		rc = probe_all(&s, err);
	bb_deadline__end(&half);
	if (!rc && s.out_of_time)
		say_late(&s, load_s, bb_seconds_since(began_ns) - load_s);
	if (!rc && !anything_left(&s))
		rc = say_nothing_left(&s, err);
	*ret_session = rc ? (struct bb_session){.failed = s.failed} : s;
	if (rc)
		bb_session__close(&s);
	return rc;
}

int bb_session__stats_for(struct bb_session *s, size_t drive, struct bb_err *err)
{
	const struct bb_driver *d = s->drives[drive].driver;
	bool on = d->kind.needs_bpf && !d->kind.stats_off;
	int rc = 0;

	bb_command__limit_log(s->setup.log_fd);
	if (on && !s->stats_on)
		rc = bb_stats_enable__on(&s->stats, err);
	else if (!on)
		bb_stats_enable__off(&s->stats);
	s->stats_on = on && !rc;
	return rc;
}

void bb_session__close(struct bb_session *s)
{
	if (!s->plan)
		return;
	for (size_t i = 0; i < s->plan->scenario->n_drives; i++)
		bb_driver__close(s->drives[i].state);
	for (size_t i = 0; i < s->plan->scenario->n_variants; i++)
		bb_test_prog__close(&s->progs[i]);
	bb_stats_enable__off(&s->stats);
	bb_setup__close(&s->setup);
	for (size_t i = 0; s->mix_paths && i < s->plan->n_cases; i++)
		bb_mix_paths__done(&s->mix_paths[i]);
	free(s->mix_paths);
	free(s->refused);
	free(s->drives);
	free(s->usable);
	free(s->late);
	free(s->progs);
	memset(s, 0, sizeof(*s));
}

int bb_find_triggers(const struct bb_scenario *scenario, const struct bb_run_opts *opts,
		     struct bb_report *report, const char **ret_triggers, struct bb_err *err)
{
	struct bb_session session = {0};
	struct bb_plan plan = {0};
	int rc = bb_plan__make(scenario, &(struct bb_plan_opts){0}, &plan, err);

	if (!rc)
		rc = bb_session__open(&plan, opts, report, &session, err);
	for (size_t i = 0; !rc && i < scenario->n_variants; i++) {
		const struct bb_fire_found *f = &session.progs[i].fire;
		/* bpfbench's own function or test run replaces the event, and no scenario can name
		 * it */
		bool is_own = f->point.kind == BB_AT_OWN_FUNCTION || f->point.kind == BB_AT_OWN_RUN;

		ret_triggers[i] = f->trigger && !is_own ? f->trigger->name : NULL;
	}
	bb_session__close(&session);
	bb_plan__done(&plan);
	return rc;
}
