/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate_build.h"

#include <fts.h>

#include "base/caller.h"
#include "base/io.h"
#include "base/process.h"
#include "capture/file.h"

const char *const bb_revision_names[] = {"base", "head"};

#define EXTENSION ".bpf.o"
#define MAX_BYTES (256u << 20)
/* limit for all copies together, because /run is a file system in memory */
#define MAX_ALL_BYTES (512u << 20)
#define MOST_OBJECTS 10000u

/* Returns the object with this path, and adds it if there is none. */
static struct bb_built_object *named(struct bb_built_objects *o, const char *path)
{
	struct bb_built_object *v = BB_FIND(o->v, o->n, !strcmp(it->path, path));

	if (v)
		return v;
	v = bb_append(&o->v, &o->n, sizeof(*v));
	v->path = bb_strdup(path);
	return v;
}

/* A missing file is no error. */
static int keep(struct bb_gate_builds *b, enum bb_revision revision, const char *path,
		struct bb_err *err)
{
	struct bb_built_objects *o = &b->objects;
	struct bb_built_object *v = named(o, path);
	size_t bytes = 0, max = MAX_BYTES;
	char name[32];

	if (v->file[revision])
		return 0;
	snprintf(name, sizeof(name), "%s%zu.o", bb_revision_names[revision], (size_t)(v - o->v));
	if (max > MAX_ALL_BYTES - o->bytes)
		max = MAX_ALL_BYTES - o->bytes;
	int rc = o->n > MOST_OBJECTS ? -EFBIG
				     : bb_repo__keep(&b->repo, path, name, max, &bytes, err);
	o->bytes += bytes;
	if (rc == -EFBIG && (max < MAX_BYTES || o->n > MOST_OBJECTS))
		bb_fail(err, rc,
			"%s: with this one, the objects of both builds are more than %u, or have "
			"more than 512 MiB; name those that count by --object",
			path, MOST_OBJECTS);
	if (!rc)
		v->file[revision] = bb_asprintf("%s/%s", b->repo.kept, name);
	if (rc && !v->file[BB_BASE] && v == &o->v[o->n - 1]) {
		free(v->path);
		o->n--;
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Sorts files by name, so that the order of objects is always the same. */
static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int keep_all(struct bb_gate_builds *b, enum bb_revision revision, struct bb_err *err)
{
	char *roots[] = {b->repo.tree, NULL};
	size_t len = strlen(EXTENSION);
	const FTSENT *e;
	FTS *fts;
	int rc = 0;

	for (size_t i = 0; !rc && i < b->opts->objects.n; i++)
		rc = keep(b, revision, b->opts->objects.v[i], err);
	if (b->opts->objects.n)
		return rc;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	if (!fts)
		return bb_fail(err, -errno, "%s: %m", b->repo.tree);
	while (!rc && (e = fts_read(fts)))
		if (e->fts_info == FTS_F && e->fts_namelen > len &&
		    !strcmp(e->fts_name + e->fts_namelen - len, EXTENSION))
			rc = keep(b, revision, e->fts_path + strlen(b->repo.tree) + 1, err);
	fts_close(fts);
	return rc;
}

int bb_built_object__is_same(const struct bb_built_object *o, bool *ret_same, struct bb_err *err)
{
	char *data[BB_N_REVISIONS] = {0};
	size_t len[BB_N_REVISIONS] = {0};
	int rc = 0;

	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_read_file(o->file[r], MAX_BYTES, &data[r], &len[r], err);
	if (!rc)
		*ret_same = len[BB_BASE] == len[BB_HEAD] &&
			    !memcmp(data[BB_BASE], data[BB_HEAD], len[BB_BASE]);
	free(data[BB_BASE]);
	free(data[BB_HEAD]);
	return rc;
}

const struct bb_built_object *bb_built_objects__find(const struct bb_built_objects *o,
						     const char *name)
{
	const struct bb_built_object *v = BB_FIND(o->v, o->n, !strcmp(it->path, name));
	size_t n = 0;

	for (size_t i = 0; !v && i < o->n; i++)
		n += !strcmp(basename(o->v[i].path), basename(name));
	return n == 1 ? BB_FIND(o->v, o->n, !strcmp(basename(it->path), basename(name))) : v;
}

void bb_built_objects__done(struct bb_built_objects *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->v[i].path);
		for (int r = 0; r < BB_N_REVISIONS; r++)
			free(o->v[i].file[r]);
	}
	free(o->v);
	*o = (struct bb_built_objects){0};
}

static int keep_capture(struct bb_gate_builds *b, enum bb_revision revision, struct bb_err *err)
{
	const char *name = bb_revision_names[revision];
	struct bb_capture_facts facts = {0};
	struct bb_capture_opts here = *b->opts->capture;
	struct bb_capture *capture = NULL;
	char path[PATH_MAX + 32];
	uint64_t began_ns = bb_now_ns();
	struct bb_err why = {0};

	here.dir = b->repo.tree;
	if (here.budget_s > 0)
		here.budget_s = fmax(here.budget_s - b->spent_s, 1e-3);
	snprintf(path, sizeof(path), "%s/%s.capture", b->repo.kept, name);
	int rc = bb_capture_command(&here, &capture, &facts, &why);
	if (!rc) {
		/* writes as root, because the caller may only read in this folder */
		bb_root__begin();
		rc = bb_capture__write(capture, path, &why);
		if (!rc && chmod(path, 0440))
			rc = bb_fail(&why, -errno, "%s: %m", path);
		bb_root__end();
	}
	bb_capture__free(capture);
	b->spent_s += bb_seconds_since(began_ns);
	if (rc)
		return bb_fail(err, rc, "%s: %s", name, why.msg);
	named(&b->objects, BB_GATE_CAPTURE)->file[revision] = bb_strdup(path);
	return 0;
}

static bool has_makefile(const struct bb_repo *repo)
{
	static const char *const names[] = {"GNUmakefile", "makefile", "Makefile"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < BB_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", repo->tree, names[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

static int run_in_tree(const struct bb_gate_builds *b, const char *const *argv,
		       struct bb_process_end *ret_end, struct bb_err *err)
{
	const struct bb_process p = {.argv = argv,
				     .dir = b->repo.tree,
				     .together = true,
				     .uid = b->repo.uid,
				     .gid = b->repo.gid,
				     .env = b->opts->env};

	return bb_process__run(&p, ret_end, err);
}

/* Finds the object files that are targets of the makefile, by their paths as make writes them.
 * Leaves out names with other characters than letters, digits and "_./+-", and targets of recursive
 * makes. Finds none if make is not GNU make. */
static int find_targets(const struct bb_gate_builds *b, struct bb_built_objects *targets,
			struct bb_err *err)
{
	/* -p prints all rules after a dry run, also those from patterns. MAKE=true disables
	 * recursive makes, because their paths would be relative to other folders. */
	static const char list[] = "export LC_ALL=C; make -pnk MAKE=true 2>/dev/null | "
				   "grep -oE '^[A-Za-z0-9_./][A-Za-z0-9_./+-]*[.]o:'";
	const char *argv[] = {"sh", "-c", list, NULL};
	struct bb_process_end end;
	char *line, *at;
	int rc = run_in_tree(b, argv, &end, err);

	if (rc)
		return rc;
	for (line = strtok_r(end.out, ":\n", &at); line; line = strtok_r(NULL, ":\n", &at))
		named(targets, line);
	bb_process_end__done(&end);
	return 0;
}

/* Adds the target `name` to `needs`. If `is_path` is true, `name` must be the target's whole path.
 * *ret_known tells whether make has the target. */
static void add_need(const struct bb_built_objects *targets, const char *name, bool is_path,
		     struct bb_built_objects *needs, bool *ret_known)
{
	const struct bb_built_object *t = bb_built_objects__find(targets, name);

	*ret_known = t && (!is_path || !strcmp(t->path, name));
	if (*ret_known)
		named(needs, t->path);
}

/* Finds the targets that make has to build. `needs` stays empty if make lacks one of the objects,
 * or has several with its name. make then builds its default goal. */
static int find_needs(const struct bb_gate_builds *b, struct bb_built_objects *needs,
		      struct bb_err *err)
{
	const struct bb_gate_opts *o = b->opts;
	struct bb_built_objects targets = {0};
	struct bb_scenario *s = NULL;
	bool known = true;

	if (o->build || o->capture || (!o->scenario && !o->objects.n) || !has_makefile(&b->repo))
		return 0;
	int rc = find_targets(b, &targets, err);
	/* --object gives exact paths, so other objects with the file name do not count */
	for (size_t i = 0; !rc && known && i < o->objects.n; i++)
		add_need(&targets, o->objects.v[i], true, needs, &known);
	if (!rc && !o->objects.n)
		rc = bb_scenario__read(o->scenario, false, &s, err);
	for (size_t i = 0; !rc && s && known && i < s->n_variants; i++) {
		const char *name = bb_variant_object(s, &s->variants[i]);

		if (name && strcmp(name, BB_FLOORS_OBJECT)) /* the floors come with bpfbench */
			add_need(&targets, name, false, needs, &known);
	}
	bb_scenario__free(s);
	bb_built_objects__done(&targets);
	if (rc || !known)
		bb_built_objects__done(needs);
	return rc;
}

#define LOG_LINES 30u
#define LOG_BYTES 3000u

/* Runs the build command at the top of the tree. `what` names the revision in messages. If the
 * command fails, returns -EBADE and a message that ends with the last lines of its output. */
static int run_build(const struct bb_gate_builds *b, const struct bb_built_objects *needs,
		     const char *text, const char *what, struct bb_err *err)
{
	const char *command = b->opts->build, **argv = bb_calloc(needs->n + 4, sizeof(*argv)), *log;
	struct bb_process_end end;
	size_t lines = 0;

	argv[0] = command ? "sh" : "make";
	argv[1] = command ? "-c" : needs->n ? "--" : NULL;
	argv[2] = command;
	for (size_t i = 0; !command && i < needs->n; i++)
		argv[2 + i] = needs->v[i].path;
	int rc = run_in_tree(b, argv, &end, err);
	free(argv);
	if (rc)
		return rc;
	if (!end.was_whole)
		b->opts->say("no PID namespace can be made here: a process that the build left "
			     "behind may outlive it");
	/* finds the last lines of the output that fit into a message */
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

/* Builds by the caller's command or, without one, by make, which builds the targets in `needs`. If
 * make fails, builds its default goal, because a target may need files that rules of this goal
 * make. If make built only `needs`, *ret_made is its command, such as "make prog.bpf.o". */
static int make_tree(struct bb_gate_builds *b, struct bb_built_objects *needs, const char *what,
		     char **ret_made, struct bb_err *err)
{
	const char *command = b->opts->build;
	char *line = NULL, *text = NULL;
	size_t size;

	if (!command && !has_makefile(&b->repo))
		return bb_fail(err, -EBADE,
			       "%s has no Makefile at its top; name the command that makes its "
			       "objects: --build COMMAND",
			       what);
	FILE *out = bb_open_memstream(&text, &size);
	fputs(command ? command : "make", out);
	for (size_t i = 0; !command && i < needs->n; i++)
		fprintf(out, " %s", needs->v[i].path);
	bb_close_memstream(out);
	line = bb_asprintf("building %s: %s", what, text);
	b->opts->say(line);
	int rc = run_build(b, needs, text, what, err);
	free(line);
	if (!rc && needs->n) {
		*ret_made = text;
		return 0;
	}
	free(text);
	if (rc != -EBADE || !needs->n)
		return rc;
	b->opts->say("make cannot build these alone; so everything is built");
	bb_built_objects__done(needs);
	return make_tree(b, needs, what, ret_made, err);
}

static int build(struct bb_gate_builds *b, enum bb_revision revision, struct bb_err *err)
{
	const struct bb_gate_opts *o = b->opts;
	struct bb_gate *g = b->gate;
	const char *commit = revision == BB_BASE ? g->base_commit : g->head_commit;
	const char *name = revision == BB_BASE ? g->base : g->head ? g->head : "the work tree";
	bool changes = revision == BB_HEAD && g->dirty;
	struct bb_built_objects needs = {0};
	char what[300];

	snprintf(what, sizeof(what), "%s, %s (%.12s%s)", bb_revision_names[revision], name, commit,
		 changes ? " and changes" : "");
	int rc = bb_repo__check_out(&b->repo, commit, changes, err);
	if (!rc)
		rc = find_needs(b, &needs, err);
	/* With a capture command, a tree without build command and makefile needs no build. */
	if (!rc && (o->build || !o->capture || has_makefile(&b->repo)))
		rc = make_tree(b, &needs, what, revision == BB_BASE ? &g->base_made : &g->head_made,
			       err);
	bb_built_objects__done(&needs);
	if (!rc)
		rc = o->capture ? keep_capture(b, revision, err) : keep_all(b, revision, err);
	return rc ? rc : bb_repo__remove_tree(&b->repo, err);
}

int bb_gate_builds__make(struct bb_gate_builds *b, struct bb_err *err)
{
	const struct bb_gate *g = b->gate;
	int rc = build(b, BB_BASE, err);

	/* builds and captures twice, because the command may load other programs the second time */
	if (rc || strcmp(g->base_commit, g->head_commit) || g->dirty || b->opts->capture)
		return rc ? rc : build(b, BB_HEAD, err);
	b->opts->say("head is the same commit: it is not built again");
	for (size_t i = 0; i < b->objects.n; i++) {
		struct bb_built_object *o = &b->objects.v[i];

		o->file[BB_HEAD] = bb_strdup(o->file[BB_BASE]);
	}
	return 0;
}
