/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/deadline.h"
#include "base/grow.h"
#include "bpf/object_info.h"
#include "bpf/prog_type.h"
#include "bpf/stats_enable.h"
#include "drivers/test_run_types.h"
#include "plan/plan.h"
#include "run/built_objects.h"
#include "run/gate_jobs.h"

const char *const bb_revision_names[] = {"base", "head"};

/* --- the two revisions --- */

static int find_revisions(struct bb_gate_run *run, struct bb_err *err)
{
	const struct bb_gate_opts *o = run->opts;
	struct bb_gate *g = &run->gate;
	int rc = bb_repo__resolve(&run->repo, o->base, g->base_commit, err);

	if (!rc)
		rc = bb_repo__resolve(&run->repo, o->head ? o->head : "HEAD", g->head_commit, err);
	if (!rc && o->merge_base)
		rc = bb_repo__merge_base(&run->repo, g->base_commit, g->head_commit, g->base_commit,
					 err);
	if (!rc && !o->head)
		rc = bb_repo__is_dirty(&run->repo, &g->dirty, err);
	return rc;
}

/* Nobody should wait for two builds to hear that it takes root. */
static int check_rights(struct bb_err *err)
{
	struct bb_stats_enable stats;
	int rc = bb_stats_enable__on(&stats, err);

	if (!rc)
		bb_stats_enable__off(&stats);
	return rc;
}

/* --- what to compare --- */

/* "file.program"; where two objects have the same file name, all of the path. */
static int label_program(struct bb_gate *g, struct bb_gate_program *p)
{
	char own[BB_NAME_MAX_BYTES + 1], object[BB_NAME_MAX_BYTES + 1],
		label[2 * BB_NAME_MAX_BYTES + 2];
	const char *slash = strrchr(p->object, '/');
	bool taken = true;

	bb_name_from(p->program, strlen(p->program), own);
	for (int whole = 0; taken && whole < 2; whole++) {
		bb_object_name_from(slash && !whole ? slash + 1 : p->object, object);
		snprintf(label, sizeof(label), "%s.%s", object, own);
		taken = false;
		for (size_t i = 0; i < g->n_programs; i++)
			taken |= bb_same_text(g->programs[i].label, label);
	}
	p->program_at = strlen(label) - strlen(own);
	p->label = strdup(label);
	return p->label ? 0 : -ENOMEM;
}

int bb_gate_program__skip(struct bb_gate_program *p, enum bb_gate_state state, const char *why,
			  struct bb_err *err)
{
	p->state = state;
	free(p->why);
	p->why = strndup(why, strcspn(why, "\n")); /* what follows is a log */
	return p->why ? 0 : bb_fail_nomem(err);
}

/* The names of the drives that do not go by time, into drives[s->n_drives]; their number. */
static size_t quick_drives(const struct bb_scenario *s, const char **drives)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_drives; i++)
		if (!(s->drives[i].kind->seconds > 0))
			drives[n++] = bb_drive_name(&s->drives[i]);
	return n;
}

/* A job for the gate's last program. */
static int add_job(struct bb_gate_run *run, struct bb_scenario *scenario, struct bb_err *err)
{
	const char **drives = calloc(scenario->n_drives + 1, sizeof(*drives));
	struct bb_plan_opts opts = {.variants = bb_revision_names, .n_variants = 2};
	struct bb_gate_job *job = bb_append(&run->jobs, &run->n_jobs, sizeof(*job));
	int rc;

	if (!job || !drives) {
		free(drives);
		bb_scenario__free(scenario);
		return bb_fail_nomem(err);
	}
	job->program = run->gate.n_programs - 1;
	job->scenario = scenario;
	opts.drives = run->opts->n_drives ? run->opts->drives : drives;
	opts.n_drives = run->opts->n_drives   ? run->opts->n_drives
			: run->opts->scenario ? quick_drives(scenario, drives)
					      : 0;
	rc = bb_plan__make(scenario, &opts, &job->plan, err);
	free(drives);
	return rc;
}

/* The packets or the contexts, whichever programs of the type take. */
static void choose_inputs(struct bb_object_opts *o, uint32_t type)
{
	const struct bb_test_run_type *t;

	if (bb_test_run_type__find(type, &t, NULL) || t->takes_context)
		o->n_packets = 0;
	if (bb_test_run_type__find(type, &t, NULL) || !t->takes_context)
		o->n_contexts = 0;
}

/* A program of both: it gets a job, unless nothing here makes it run. */
static int add_pair(struct bb_gate_run *run, const struct bb_built_object *o,
		    const struct bb_object_program *base, const struct bb_object_program *head,
		    struct bb_err *err)
{
	const struct bb_object_ref refs[] = {{bb_revision_names[BB_BASE], o->file[BB_BASE],
					      base->name},
					     {bb_revision_names[BB_HEAD], o->file[BB_HEAD],
					      head->name}};
	struct bb_gate_program *p = bb_gate__add(&run->gate, o->path, head->name, BB_GATE_COMPARED);
	struct bb_object_opts opts = run->opts->drive;
	struct bb_object_scenario text = {0};
	struct bb_scenario *scenario = NULL;
	bool same = false;
	char why[200];
	int rc;

	if (!p || label_program(&run->gate, p))
		return bb_fail_nomem(err);
	if (strcmp(base->name, head->name) &&
	    asprintf(&p->why, "called '%s' in base, and attached in the same place", base->name) <
		    0) {
		p->why = NULL;
		return bb_fail_nomem(err);
	}
	rc = run->opts->force ? 0 : bb_gate_capture__is_same(o, base->name, head->name, &same, err);
	if (rc || same) {
		p->state = BB_GATE_SAME;
		return rc;
	}
	if (base->type != head->type) {
		snprintf(why, sizeof(why), "its type was %s and is %s",
			 bb_prog_type_name(base->type).text, bb_prog_type_name(head->type).text);
		return bb_gate_program__skip(p, BB_GATE_SKIPPED, why, err);
	}
	opts.name = p->label;
	opts.objects = refs;
	opts.n_objects = BB_N_REVISIONS;
	opts.one_each = true;
	opts.what = BB_OBJECT_TIME_AND_COUNT;
	choose_inputs(&opts, head->type);
	rc = bb_object_scenario__make(&opts, &text, err);
	if (rc == -ENOTSUP)
		return bb_gate_program__skip(p, BB_GATE_SKIPPED, err->msg, err);
	if (!rc)
		rc = bb_scenario__parse(text.text, strlen(text.text), o->path, &scenario, err);
	bb_object_scenario__done(&text);
	return rc ? rc : add_job(run, scenario, err);
}

static int add_programs(struct bb_gate_run *run, const struct bb_built_object *o,
			struct bb_err *err)
{
	struct bb_object_info info[BB_N_REVISIONS] = {0};
	int rc = 0;

	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_object_info__read(o->file[r], &info[r], err);
	for (size_t i = 0; !rc && i < info[BB_HEAD].n_programs; i++) {
		const struct bb_object_program *head = &info[BB_HEAD].programs[i],
					       *base = bb_gate_partner(&info[BB_HEAD], head,
								       &info[BB_BASE]);

		if (!bb_object_opts__wants(&run->opts->drive, head->name))
			continue;
		if (base)
			rc = add_pair(run, o, base, head, err);
		else if (!bb_gate__add(&run->gate, o->path, head->name, BB_GATE_NEW))
			rc = bb_fail_nomem(err);
	}
	for (size_t i = 0; !rc && i < info[BB_BASE].n_programs; i++) {
		const struct bb_object_program *base = &info[BB_BASE].programs[i];
		const char *name = base->name;

		if (bb_object_opts__wants(&run->opts->drive, name) &&
		    !bb_gate_partner(&info[BB_BASE], base, &info[BB_HEAD]) &&
		    !bb_gate__add(&run->gate, o->path, name, BB_GATE_GONE))
			rc = bb_fail_nomem(err);
	}
	for (int r = 0; r < BB_N_REVISIONS; r++)
		bb_object_info__done(&info[r]);
	return rc;
}

/* Is there something to compare? If not, the gate says so of the object as a whole. */
static int judge_object(struct bb_gate_run *run, const struct bb_built_object *o, bool *ret_differs,
			struct bb_err *err)
{
	bool same = false;
	int rc = 0;

	*ret_differs = false;
	if (o->file[BB_BASE] && o->file[BB_HEAD]) {
		if (!run->opts->force)
			rc = bb_built_object__is_same(o, &same, err);
		*ret_differs = !same;
		if (rc || !same)
			return rc;
	}
	if (!bb_gate__add(&run->gate, o->path, NULL,
			  same               ? BB_GATE_SAME
			  : o->file[BB_HEAD] ? BB_GATE_NEW
					     : BB_GATE_GONE))
		return bb_fail_nomem(err);
	return 0;
}

/* A scenario's variants take their objects from head's build. */
static int use_head(struct bb_gate_run *run, struct bb_scenario *s, struct bb_err *err)
{
	for (size_t i = 0; i < s->n_variants; i++) {
		struct bb_variant_spec *v = &s->variants[i];
		const char *name = bb_variant_object(s, v);
		const struct bb_built_object *o = name ? bb_built_objects__find(&run->objects, name)
						       : NULL;
		char *file = o && o->file[BB_HEAD] ? strdup(o->file[BB_HEAD]) : NULL;

		if (!o || !o->file[BB_HEAD])
			continue;
		if (!file)
			return bb_fail_nomem(err);
		free(v->object);
		v->object = file;
	}
	return 0;
}

/* A scenario of the variant's own: as base and as head have it. */
static int add_variant(struct bb_gate_run *run, const char *variant,
		       const struct bb_built_object *o, struct bb_err *err)
{
	struct bb_gate_program *p = bb_gate__add(&run->gate, o->path, variant, BB_GATE_COMPARED);
	struct bb_scenario *s = NULL;
	char *label = NULL;
	int rc = p ? bb_scenario__read(run->opts->scenario, &s, err) : bb_fail_nomem(err);

	if (!rc && (asprintf(&label, "%s.%s", s->name, variant) < 0 || !(p->label = strdup(label))))
		rc = bb_fail_nomem(err);
	if (!rc)
		rc = use_head(run, s, err);
	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_scenario__add_variant(s, bb_revision_names[r], variant, o->file[r], err);
	if (rc) {
		free(label);
		bb_scenario__free(s);
		return rc;
	}
	p->program_at = strlen(s->name) + 1;
	free(s->name);
	s->name = label;
	return add_job(run, s, err);
}

/* Floors are there to be subtracted. */
static bool is_floor(const struct bb_scenario *s, const char *variant)
{
	bool floor = bb_same_text(s->floor, variant);

	for (size_t i = 0; i < s->n_drives; i++)
		floor |= bb_same_text(s->drives[i].floor, variant);
	return floor;
}

/* A variant of the scenario whose object was built, or was not. */
static int judge_variant(struct bb_gate_run *run, const struct bb_scenario *s,
			 const struct bb_variant_spec *v, struct bb_err *err)
{
	const char *name = bb_variant_object(s, v);
	const struct bb_built_object *o = name ? bb_built_objects__find(&run->objects, name) : NULL;
	bool base = o && o->file[BB_BASE], head = o && o->file[BB_HEAD], same = false;
	struct bb_gate_program *p;
	int rc = 0;

	if (base && head && !run->opts->force)
		rc = bb_built_object__is_same(o, &same, err);
	if (rc)
		return rc;
	if (base && head && !same)
		return add_variant(run, v->name, o, err);
	p = bb_gate__add(&run->gate,
			 o      ? o->path
			 : name ? name
				: "",
			 v->name,
			 same   ? BB_GATE_SAME
			 : head ? BB_GATE_NEW
				: BB_GATE_GONE);
	if (!p)
		return bb_fail_nomem(err);
	return o ? 0
		 : bb_gate_program__skip(p, BB_GATE_SKIPPED,
					 "neither build made its object, or more than one of that "
					 "name",
					 err);
}

static int check_counts(const struct bb_scenario *s, struct bb_err *err)
{
	for (size_t i = 0; i < s->n_drives; i++)
		if (s->drives[i].kind->counts)
			return 0;
	return bb_fail(err, -EINVAL, "%s: --exact takes a drive {with: exact}, and it has none",
		       s->path);
}

static int add_variants(struct bb_gate_run *run, struct bb_err *err)
{
	struct bb_scenario *s = NULL;
	int rc = bb_scenario__read(run->opts->scenario, &s, err);

	if (!rc && run->opts->exact)
		rc = check_counts(s, err);
	for (size_t i = 0; !rc && i < s->n_variants; i++)
		if (!is_floor(s, s->variants[i].name))
			rc = judge_variant(run, s, &s->variants[i], err);
	bb_scenario__free(s);
	return rc;
}

static int check_objects(const struct bb_gate_run *run, struct bb_err *err)
{
	const struct bb_gate_opts *o = run->opts;

	for (size_t i = 0; i < o->n_objects; i++)
		if (!bb_built_objects__find(&run->objects, o->objects[i]))
			return bb_fail(err, -ENOENT,
				       "%s: neither build made it; --object takes a path from the "
				       "top of the tree",
				       o->objects[i]);
	if (!run->objects.n)
		return bb_fail(err, -ENOENT,
			       "neither build made a *.bpf.o; which files are the BPF objects? "
			       "--object PATH, and --build COMMAND if `%s` does not make them",
			       o->build ? o->build : "make");
	for (size_t i = 0; i < run->objects.n; i++)
		if (run->objects.v[i].file[BB_BASE] && run->objects.v[i].file[BB_HEAD])
			return 0;
	return bb_fail(err, -ENOENT, "base and head have no object in common: %s is only in %s",
		       run->objects.v[0].path,
		       bb_revision_names[run->objects.v[0].file[BB_HEAD] != NULL]);
}

/* One that there is no time for is skipped, which the report says. */
static int look_into(struct bb_gate_run *run, const struct bb_built_object *o, struct bb_err *err)
{
	struct bb_gate_program *p;
	bool differs = false;
	int rc = judge_object(run, o, &differs, err);

	if (!rc && differs)
		rc = add_programs(run, o, err);
	if (rc != -ETIME)
		return rc;
	p = bb_gate__add(&run->gate, o->path, NULL, BB_GATE_SKIPPED);
	return p ? bb_gate_program__skip(p, BB_GATE_SKIPPED,
					 "the budget was over before its programs were found", err)
		 : bb_fail_nomem(err);
}

static int find_programs(struct bb_gate_run *run, struct bb_err *err)
{
	double budget_s = run->opts->budget_s;
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline budget;
	int rc = check_objects(run, err);

	bb_deadline__begin(&budget, budget_s > 0 ? fmax(budget_s - run->spent_s, 1e-3) : 0);
	if (!rc && run->opts->scenario)
		rc = add_variants(run, err);
	else
		for (size_t i = 0; !rc && i < run->objects.n; i++)
			rc = look_into(run, &run->objects.v[i], err);
	bb_deadline__end(&budget);
	run->spent_s += bb_seconds_since(began_ns);
	return rc;
}

int bb_gate_run__open(const struct bb_gate_opts *opts, struct bb_gate_run **ret_run,
		      struct bb_err *err)
{
	struct bb_gate_run *run = calloc(1, sizeof(*run));
	int rc;

	if (!run)
		return bb_fail_nomem(err);
	run->opts = opts;
	run->gate = (struct bb_gate){.threshold = opts->threshold,
				     .alpha = opts->alpha,
				     .exact = opts->exact,
				     .base = strdup(opts->base),
				     .head = opts->head ? strdup(opts->head) : NULL};
	rc = run->gate.base && (run->gate.head || !opts->head) ? 0 : bb_fail_nomem(err);
	if (!rc)
		rc = bb_repo__open(opts->dir, &run->repo, err);
	if (!rc)
		rc = find_revisions(run, err);
	if (!rc)
		rc = check_rights(err);
	if (!rc)
		rc = bb_gate_build__both(run, err);
	if (!rc)
		rc = find_programs(run, err);
	if (rc)
		bb_gate_run__close(run, NULL);
	else
		*ret_run = run;
	return rc;
}

const struct bb_gate *bb_gate_run__gate(const struct bb_gate_run *run)
{
	return &run->gate;
}

int bb_gate_run__close(struct bb_gate_run *run, struct bb_err *err)
{
	int rc;

	if (!run)
		return 0;
	for (size_t i = 0; i < run->n_jobs; i++) {
		bb_plan__done(&run->jobs[i].plan);
		bb_scenario__free(run->jobs[i].scenario);
	}
	free(run->jobs);
	bb_built_objects__done(&run->objects);
	bb_gate__done(&run->gate);
	rc = bb_repo__close(&run->repo, err);
	free(run);
	return rc;
}

double bb_gate_run__spent_s(const struct bb_gate_run *run)
{
	return run->spent_s;
}

bool bb_gate_run__takes_cpu(const struct bb_gate_run *run)
{
	for (size_t i = 0; i < run->n_jobs; i++)
		if (bb_plan_takes_cpu(&run->jobs[i].plan))
			return true;
	return false;
}
