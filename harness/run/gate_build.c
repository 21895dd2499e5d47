/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/process.h"
#include "capture/file.h"
#include "capture/section.h"
#include "run/object_scenario.h"

/* --- the build of a tree --- */

#define LOG_LINES 30u
#define LOG_BYTES 3000u

static bool has_makefile(const struct bb_repo *repo)
{
	static const char *const names[] = {"GNUmakefile", "makefile", "Makefile"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", repo->tree, names[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

static int run_in_tree(const struct bb_repo *repo, const char *const *argv, const char *const *env,
		       struct bb_process_end *ret_end, struct bb_err *err)
{
	const struct bb_process p = {.argv = argv,
				     .dir = repo->tree,
				     .together = true,
				     .uid = repo->uid,
				     .gid = repo->gid,
				     .env = env};

	return bb_process__run(&p, ret_end, err);
}

/*
 * The object files that make knows how to make, or that exist and are named in the makefile: paths
 * as make calls them, without a file yet. Names that have other characters than letters, digits and
 * "_./+-" are left out, and those of makes that make starts. None where make is not GNU make.
 * Nothing is made, but as of `make -n`. 0 or -errno with a message; _done() them.
 */
static int find_targets(const struct bb_repo *repo, const char *const *env,
			struct bb_built_objects *ret_targets, struct bb_err *err)
{
	/* Make prints its rules after a dry run of its default goal, those of patterns that it came
	 * across, too. A make that it starts would tell paths from another folder. */
	static const char list[] = "export LC_ALL=C; make -pnk MAKE=true 2>/dev/null | "
				   "grep -oE '^[A-Za-z0-9_./][A-Za-z0-9_./+-]*[.]o:'";
	const char *argv[] = {"sh", "-c", list, NULL};
	struct bb_built_objects targets = {0};
	struct bb_process_end end;
	char *line, *at;
	int rc = run_in_tree(repo, argv, env, &end, err);

	if (rc)
		return rc;
	for (line = strtok_r(end.out, ":\n", &at); !rc && line; line = strtok_r(NULL, ":\n", &at))
		if (!bb_built_objects__name(&targets, line))
			rc = bb_fail_nomem(err);
	bb_process_end__done(&end);
	if (rc)
		bb_built_objects__done(&targets);
	else
		*ret_targets = targets;
	return rc;
}

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

/* The command in words: "make build/prog.bpf.o". NULL when out of memory; free() it. */
static char *build_text(const char *command, const struct needs *needs)
{
	char *text = strdup(command ? command : "make");

	for (size_t i = 0; text && !command && i + 1 < needs->n; i++) {
		char *before = text;

		if (asprintf(&text, "%s %s", before, needs->v[i]) < 0)
			text = NULL;
		free(before);
	}
	return text;
}

/*
 * Run it, at the top of the tree. `what` is the revision, for messages. -EBADE when the command
 * fails: the message ends with the end of its output. *ret_whole: nothing of it can have survived
 * (base/process.c).
 */
static int run_build(const struct bb_gate_run *run, const struct needs *needs, const char *text,
		     const char *what, bool *ret_whole, struct bb_err *err)
{
	const char *command = run->opts->build, *log;
	size_t n = !command && needs->n ? needs->n - 1 : 0, lines = 0;
	const char **argv = calloc(n + 4, sizeof(*argv));
	struct bb_process_end end;
	int rc;

	if (!argv)
		return bb_fail_nomem(err);
	argv[0] = command ? "sh" : "make";
	argv[1] = command ? "-c" : n ? "--" : NULL;
	argv[2] = command;
	for (size_t i = 0; i < n; i++)
		argv[2 + i] = needs->v[i];
	rc = run_in_tree(&run->repo, argv, run->opts->env, &end, err);
	free(argv);
	if (rc)
		return rc;
	*ret_whole = end.was_whole;
	/* the last lines, as far as they have room in a message */
	for (log = end.out + strlen(end.out); log > end.out && strlen(log) < LOG_BYTES &&
					      (log[-1] != '\n' || !*log || ++lines < LOG_LINES);)
		log--;
	if (end.status)
		rc = bb_fail(err, -EBADE,
			     "%s does not build: `%s` ended with %d; the end of its output:\n%s",
			     what, text, end.status, log);
	bb_process_end__done(&end);
	return rc;
}

/* --- a command that is captured --- */

/* Run the command in the tree that was built, and keep the capture as an object of the revision.
 * Errors: those of bb_capture_command(), with the revision named. */
static int keep_capture(struct bb_gate_run *run, enum bb_revision revision, struct bb_err *err)
{
	const char *name = bb_revision_names[revision];
	struct bb_capture_facts facts = {0};
	struct bb_capture_opts here = *run->opts->capture;
	struct bb_capture *capture = NULL;
	char path[PATH_MAX + 32];
	uint64_t began_ns = bb_now_ns();
	struct bb_err why = {0};
	int rc;

	here.dir = run->repo.tree;
	if (here.budget_s > 0)
		here.budget_s = fmax(here.budget_s - run->spent_s, 1e-3);
	snprintf(path, sizeof(path), "%s/%s.capture", run->repo.kept, name);
	rc = bb_capture_command(&here, &capture, &facts, &why);
	if (!rc) {
		bb_root__begin(); /* the folder is ours, and the caller may read in it */
		rc = bb_capture__write(capture, path, &why);
		if (!rc && chmod(path, 0440))
			rc = bb_fail(&why, -errno, "%s: %s", path, strerror(errno));
		bb_root__end();
	}
	bb_capture__free(capture);
	run->spent_s += bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "%s: %s", name, why.msg);
	return bb_built_objects__add(&run->objects, revision, BB_GATE_CAPTURE, path, err);
}

static const struct bb_object_program *namesake(const struct bb_object_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_programs; i++)
		if (!strcmp(info->programs[i].name, name))
			return &info->programs[i];
	return NULL;
}

/* In the same place, and without a namesake in the other revision. */
static bool competes(const struct bb_object_program *q, const struct bb_object_program *p,
		     const struct bb_object_info *other)
{
	return q->type == p->type && !strcmp(q->section, p->section) && !namesake(other, q->name);
}

const struct bb_object_program *bb_gate_partner(const struct bb_object_info *own,
						const struct bb_object_program *p,
						const struct bb_object_info *other)
{
	const struct bb_object_program *found = namesake(other, p->name);
	size_t before = 0;

	if (found || !own->is_capture || !other->is_capture || !strcmp(p->section, BB_NOT_ATTACHED))
		return found;
	for (size_t i = 0; &own->programs[i] != p; i++)
		before += competes(&own->programs[i], p, other);
	for (size_t i = 0; i < other->n_programs; i++)
		if (competes(&other->programs[i], p, own) && !before--)
			return &other->programs[i];
	return NULL;
}

int bb_gate_capture__is_same(const struct bb_built_object *o, const char *base, const char *head,
			     bool *ret_same, struct bb_err *err)
{
	struct bb_capture *c[BB_N_REVISIONS] = {0};
	int rc = 0;

	*ret_same = false;
	if (strcmp(o->path, BB_GATE_CAPTURE))
		return 0;
	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_capture__read(o->file[r], &c[r], err);
	if (!rc) {
		const struct bb_captured_prog *p = bb_capture__find(c[BB_BASE], base);
		const struct bb_captured_prog *q = bb_capture__find(c[BB_HEAD], head);

		*ret_same = p && q && bb_captured_prog__is_same(c[BB_BASE], p, c[BB_HEAD], q);
	}
	for (int r = 0; r < BB_N_REVISIONS; r++)
		bb_capture__free(c[r]);
	return rc;
}

/* --- what is needed of a build --- */

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

	if (o->build || o->capture || (!o->scenario && !o->n_objects) || !has_makefile(&run->repo))
		return 0;
	rc = find_targets(&run->repo, o->env, &targets, err);
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
	char *line = NULL, *text;
	bool whole = true;
	int rc;

	if (!run->opts->build && !has_makefile(&run->repo))
		return bb_fail(err, -EBADE,
			       "%s has no Makefile at its top; name the command that makes its "
			       "objects: --build COMMAND",
			       what);
	text = build_text(run->opts->build, needs);
	if (!text || asprintf(&line, "building %s: %s", what, text) < 0) {
		free(text);
		return bb_fail_nomem(err);
	}
	run->opts->say(line);
	rc = run_build(run, needs, text, what, &whole, err);
	free(line);
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
	if (!rc && (o->build || !o->capture || has_makefile(&run->repo)))
		rc = make_tree(run, &needs, what,
			       revision == BB_BASE ? &g->base_made : &g->head_made, err);
	done_needs(&needs);
	if (!rc && o->capture)
		rc = keep_capture(run, revision, err);
	else if (!rc)
		rc = bb_built_objects__keep(&run->objects, &run->repo, revision, o->objects,
					    o->n_objects, err);
	return rc ? rc : bb_repo__remove_tree(&run->repo, err);
}

int bb_gate_build__both(struct bb_gate_run *run, struct bb_err *err)
{
	const struct bb_gate *g = &run->gate;
	int rc = build(run, BB_BASE, err);

	/* what a command loads may differ each time */
	if (rc || strcmp(g->base_commit, g->head_commit) || g->dirty || run->opts->capture)
		return rc ? rc : build(run, BB_HEAD, err);
	run->opts->say("head is the same commit: it is not built again");
	return bb_built_objects__take_base(&run->objects, err);
}
