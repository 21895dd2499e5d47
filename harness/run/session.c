/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t bb_session__variant(const struct bb_session *s, const struct bb_cell *c)
{
	return (size_t)(c->variant - s->plan->scenario->variants);
}

size_t bb_session__drive(const struct bb_session *s, const struct bb_cell *c)
{
	return (size_t)(c->drive - s->plan->scenario->drives);
}

bool bb_session__can(const struct bb_session *s, const struct bb_cell *c)
{
	return s->usable[bb_session__variant(s, c)] && s->drives[bb_session__drive(s, c)].driver;
}

char *bb_object_path(const struct bb_scenario *s, const struct bb_variant_spec *v, const char *object_dir)
{
	const char *name = v->object ? v->object : s->object;
	const char *slash = strrchr(s->path, '/');
	char *path = NULL;

	if (name[0] == '/')
		return strdup(name);
	if (object_dir && !strchr(name, '/')) {
		if (asprintf(&path, "%s/%s", object_dir, name) < 0)
			return NULL;
		if (!access(path, F_OK))
			return path;
	}
	/* Beside the scenario, unless only the build folder can be meant: then its path is what an error should name. */
	if (slash) {
		char *beside = NULL;

		if (asprintf(&beside, "%.*s/%s", (int)(slash - s->path), s->path, name) < 0)
			beside = NULL;
		if (!beside || !path || !access(beside, F_OK)) {
			free(path);
			return beside;
		}
		free(beside);
	}
	return path ? path : strdup(name);
}

/* -ENOTSUP becomes a skip by name; anything else is passed on. */
static int skip_or_fail(const struct bb_session *s, struct bb_report *report, const char *what, int rc,
			struct bb_err *err)
{
	char name[512];

	if (rc != -ENOTSUP)
		return rc;
	snprintf(name, sizeof(name), "%s/%s", s->plan->scenario->name, what);
	return bb_report__add_skip(report, name, err ? err->msg : "not supported here") ? bb_fail_nomem(err) : 0;
}

static int open_variant(struct bb_session *s, size_t i, bool needs_bpf, struct bb_err *err)
{
	const struct bb_variant_spec *v = &s->plan->scenario->variants[i];
	char *path = NULL;
	int rc;

	if (needs_bpf) {
		path = bb_object_path(s->plan->scenario, v, s->opts->object_dir);
		if (!path)
			return bb_fail_nomem(err);
	}
	rc = bb_subject__open(v, path, &s->subjects[i], err);
	free(path);
	if (!rc)
		rc = bb_subject__load(&s->subjects[i], &s->rng, -1, 1, err);
	return rc;
}

static bool plan_needs_bpf(const struct bb_plan *plan)
{
	for (size_t i = 0; i < plan->n_cells; i++) {
		const struct bb_driver *d = bb_driver_find(plan->cells[i].drive->with);

		if (!d || d->needs_bpf)
			return true;
	}
	return false;
}

static int open_all(struct bb_session *s, bool needs_bpf, struct bb_report *report, struct bb_err *err)
{
	const struct bb_plan *plan = s->plan;
	int rc = 0;

	for (size_t i = 0; !rc && i < plan->n_cells; i++) {
		const struct bb_cell *c = &plan->cells[i];
		size_t v = bb_session__variant(s, c), d = bb_session__drive(s, c);
		bool seen = false;

		for (size_t j = 0; j < i; j++)
			seen |= plan->cells[j].drive == c->drive;
		if (!seen) {
			s->drives[d].driver = bb_driver_find(c->drive->with);
			rc = s->drives[d].driver->open(c->drive, &s->opts->driver, &s->drives[d].state, err);
			if (rc)
				s->drives[d].driver = NULL;
			rc = skip_or_fail(s, report, c->drive->with, rc, err);
		}
		seen = false;
		for (size_t j = 0; j < i; j++)
			seen |= plan->cells[j].variant == c->variant;
		if (!rc && !seen) {
			rc = open_variant(s, v, needs_bpf, err);
			s->usable[v] = !rc;
			rc = skip_or_fail(s, report, c->variant->name, rc, err);
		}
	}
	return rc;
}

int bb_session__open(const struct bb_plan *plan, const struct bb_run_opts *opts, struct bb_report *report,
		     struct bb_session *ret_session, struct bb_err *err)
{
	const struct bb_scenario *sc = plan->scenario;
	struct bb_session s = {.plan = plan, .opts = opts, .stats = {.fd = -1}};
	bool needs_bpf = plan_needs_bpf(plan), any = false;
	int rc = 0;

	bb_rng_seed(&s.rng, opts->seed);
	s.subjects = calloc(sc->n_variants, sizeof(*s.subjects));
	s.usable = calloc(sc->n_variants, sizeof(*s.usable));
	s.drives = calloc(sc->n_drives, sizeof(*s.drives));
	if (!s.subjects || !s.usable || !s.drives)
		rc = bb_fail_nomem(err);
	if (!rc && needs_bpf)
		rc = bb_stats_enable__on(&s.stats, err);
	if (!rc)
		rc = open_all(&s, needs_bpf, report, err);
	for (size_t i = 0; !rc && i < plan->n_cells; i++)
		any |= bb_session__can(&s, &plan->cells[i]);
	if (!rc && !any)
		rc = bb_fail(err, -ENOTSUP, "scenario '%s': nothing of it can be measured on this machine; "
			     "`bpfbench check` says why", sc->name);
	if (rc) {
		bb_session__close(&s);
		return rc;
	}
	*ret_session = s;
	return 0;
}

void bb_session__close(struct bb_session *s)
{
	const struct bb_scenario *sc = s->plan->scenario;

	for (size_t i = 0; s->drives && i < sc->n_drives; i++)
		if (s->drives[i].driver)
			s->drives[i].driver->close(s->drives[i].state);
	for (size_t i = 0; s->subjects && i < sc->n_variants; i++)
		bb_subject__close(&s->subjects[i]);
	bb_stats_enable__off(&s->stats);
	free(s->drives);
	free(s->usable);
	free(s->subjects);
	memset(s, 0, sizeof(*s));
}
