/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "run/gate_capture.h"
#include "run/object_scenario.h"
#include "run/tree_build.h"

/* --- what is needed of a build --- */

/* Targets of make; ends in NULL. */
struct needs {
	char **v;
	size_t n; /* with the NULL */
};

static void done_needs(struct needs *needs)
{
	for (size_t i = 0; i < needs->n; i++)
		free(needs->v[i]);
	free(needs->v);
	*needs = (struct needs){0};
}

static int add_need(struct needs *needs, const char *target, struct bb_err *err)
{
	char **v;

	for (size_t i = 0; target && i < needs->n; i++)
		if (!strcmp(needs->v[i], target))
			return 0;
	v = bb_append(&needs->v, &needs->n, sizeof(*v));
	if (v)
		*v = target ? strdup(target) : NULL;
	return v && (*v || !target) ? 0 : bb_fail_nomem(err);
}

/* Those of --object are paths: of another one of that name, nothing would be kept. */
static int add_objects(const struct bb_gate_opts *o, const struct bb_built_objects *targets,
		       struct needs *needs, bool *ret_known, struct bb_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && *ret_known && i < o->n_objects; i++) {
		const struct bb_built_object *t = bb_built_objects__find(targets, o->objects[i]);

		*ret_known = t && !strcmp(t->path, o->objects[i]);
		if (*ret_known)
			rc = add_need(needs, t->path, err);
	}
	return rc;
}

/* The empty programs come with bpfbench. */
static int add_variants(const struct bb_gate_opts *o, const struct bb_built_objects *targets,
			struct needs *needs, bool *ret_known, struct bb_err *err)
{
	struct bb_scenario *s = NULL;
	int rc = bb_scenario__read(o->scenario, &s, err);

	for (size_t i = 0; !rc && *ret_known && i < s->n_variants; i++) {
		const char *name = bb_variant_object(s, &s->variants[i]);
		const struct bb_built_object *t;

		if (!name || !strcmp(name, BB_FLOORS_OBJECT))
			continue;
		t = bb_built_objects__find(targets, name);
		*ret_known = t;
		if (t)
			rc = add_need(needs, t->path, err);
	}
	bb_scenario__free(s);
	return rc;
}

/* None where make does not know all objects that are needed, or several of one name. */
static int find_needs(const struct bb_gate_run *run, struct needs *needs, struct bb_err *err)
{
	const struct bb_gate_opts *o = run->opts;
	struct bb_built_objects targets;
	bool known = true;
	int rc;

	if (o->build || o->capture || (!o->scenario && !o->n_objects) ||
	    !bb_tree_has_makefile(&run->repo))
		return 0;
	rc = bb_tree_find_targets(&run->repo, o->env, &targets, err);
	if (rc)
		return rc;
	rc = o->n_objects ? add_objects(o, &targets, needs, &known, err)
			  : add_variants(o, &targets, needs, &known, err);
	if (!rc && known && needs->n)
		rc = add_need(needs, NULL, err);
	if (rc || !known)
		done_needs(needs);
	bb_built_objects__done(&targets);
	return rc;
}

/* --- the builds --- */

/*
 * Of make the needs alone; and its default goal all the same where that fails: a rule of theirs may
 * count on others that come before it there. *ret_made: the command, where it made the needs alone.
 */
static int make_tree(struct bb_gate_run *run, struct needs *needs, const char *what,
		     char **ret_made, struct bb_err *err)
{
	struct bb_tree_build b = {.command = run->opts->build,
				  .targets = (const char *const *)needs->v,
				  .env = run->opts->env};
	char *line = NULL, *text = bb_tree_build__text(&b);
	bool whole = true;
	int rc = 0;

	if (!text || asprintf(&line, "building %s: %s", what, text) < 0)
		rc = bb_fail_nomem(err);
	if (!rc) {
		run->opts->say(line);
		rc = bb_tree_build__run(&b, &run->repo, what, &whole, err);
		free(line);
	}
	if (!whole)
		run->opts->say("no PID namespace can be made here: a process that the build left "
			       "behind may outlive it");
	if (!rc && needs->n) {
		*ret_made = text;
		return 0;
	}
	free(text);
	if (rc != -EBADE || !needs->n)
		return rc;
	run->opts->say("this fails; so everything is built");
	done_needs(needs);
	return make_tree(run, needs, what, ret_made, err);
}

static int build(struct bb_gate_run *run, enum bb_revision revision, struct bb_err *err)
{
	const struct bb_gate_opts *o = run->opts;
	struct bb_gate *g = &run->gate;
	const char *commit = revision == BB_BASE ? g->base_commit : g->head_commit;
	const char *name = revision == BB_BASE ? g->base : g->head ? g->head : "the work tree";
	bool changes = revision == BB_HEAD && g->dirty;
	struct needs needs = {0};
	char what[300];
	int rc;

	snprintf(what, sizeof(what), "%s, %s (%.12s%s)", bb_revision_names[revision], name, commit,
		 changes ? " and changes" : "");
	rc = bb_repo__check_out(&run->repo, commit, changes, err);
	if (!rc)
		rc = find_needs(run, &needs, err);
	/* a script that is captured wants no build */
	if (!rc && (o->build || !o->capture || bb_tree_has_makefile(&run->repo)))
		rc = make_tree(run, &needs, what,
			       revision == BB_BASE ? &g->base_made : &g->head_made, err);
	done_needs(&needs);
	if (!rc && o->capture)
		rc = bb_gate_capture__keep(o->capture, &run->repo, revision, &run->spent_s,
					   &run->objects, err);
	else if (!rc)
		rc = bb_built_objects__keep(&run->objects, &run->repo, revision, o->objects,
					    o->n_objects, err);
	return rc ? rc : bb_repo__remove_tree(&run->repo, err);
}

/* Nobody should wait for two builds of one commit. What a command loads may differ each time. */
static bool is_one_tree(const struct bb_gate_run *run)
{
	const struct bb_gate *g = &run->gate;

	return !strcmp(g->base_commit, g->head_commit) && !g->dirty && !run->opts->capture;
}

int bb_gate_build__both(struct bb_gate_run *run, struct bb_err *err)
{
	int rc = build(run, BB_BASE, err);

	if (rc || !is_one_tree(run))
		return rc ? rc : build(run, BB_HEAD, err);
	run->opts->say("head is the same commit: it is not built again");
	return bb_built_objects__take_base(&run->objects, err);
}
