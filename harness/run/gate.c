/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/gate.h"

#include "base/deadline.h"
#include "bpf/object_info.h"
#include "bpf/prog_type.h"
#include "capture/file.h"
#include "drivers/test_run_types.h"
#include "plan/field.h"
#include "run/ab.h"
#include "run/gate_build.h"

/* Extra time for a program, s, if its budget is too short on a busy machine. */
#define PATIENCE_S 60.0

/* A program to compare. Its scenario has the variants "base" and "head". */
struct bb_gate_job {
	size_t program; /* index in the gate's programs */
	struct bb_scenario *scenario;
	struct bb_plan plan;
};

static void add_left_out(struct bb_gate_run *run, const char *object, const char *program,
			 enum bb_gate_state state, const char *why)
{
	struct bb_gate_program *p = bb_gate__add(&run->gate, object, program, state);

	if (why)
		p->why = bb_strdup(why);
}

static void leave_out(struct bb_gate_program *p, enum bb_gate_state state, const char *why)
{
	p->state = state;
	free(p->why);
	/* keeps only the first line, because a verifier log may follow */
	p->why = bb_asprintf("%.*s", (int)strcspn(why, "\n"), why);
}

/* Takes ownership of the scenario, also on error. */
static int add_job(struct bb_gate_run *run, struct bb_scenario *s, struct bb_err *err)
{
	const struct bb_gate_opts *o = run->opts;
	const char **quick = bb_calloc(s->n_drives + 1, sizeof(*quick));
	struct bb_plan_opts opts = {.variants = {bb_revision_names, BB_N_REVISIONS}};
	struct bb_gate_job *job = bb_append(&run->jobs, &run->n_jobs, sizeof(*job));

	job->program = run->gate.n_programs - 1;
	job->scenario = s;
	opts.drives = o->drives.n ? o->drives : (struct bb_strings){quick, 0};
	for (size_t i = 0; o->scenario && !o->drives.n && i < s->n_drives; i++)
		if (!(s->drives[i].kind->seconds > 0))
			quick[opts.drives.n++] = bb_drive_name(&s->drives[i]);
	int rc = bb_plan__make(s, &opts, &job->plan, err);
	run->takes_cpu |= !rc && bb_plan_takes_cpu(&job->plan);
	free(quick);
	return rc;
}

/* *ret_same is true if `o` is a capture and its two programs are equal. */
static int compare_captured(const struct bb_built_object *o, const char *base, const char *head,
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

/* Adds a job, or marks the program as skipped if bpfbench cannot make it run. */
static int add_object_job(struct bb_gate_run *run, const struct bb_built_object *o,
			  const struct bb_object_program *base,
			  const struct bb_object_program *head, struct bb_err *err)
{
	const struct bb_object_ref refs[] = {{bb_revision_names[BB_BASE], o->file[BB_BASE],
					      base->name},
					     {bb_revision_names[BB_HEAD], o->file[BB_HEAD],
					      head->name}};
	struct bb_gate_program *p = &run->gate.programs[run->gate.n_programs - 1];
	struct bb_object_opts opts = run->opts->drive;
	struct bb_object_scenario text = {0};
	struct bb_scenario *scenario = NULL;
	const struct bb_test_run_type *t;
	bool is_run = !bb_test_run_type__find(head->type, &t, NULL);

	opts.name = p->label;
	opts.objects = refs;
	opts.n_objects = BB_N_REVISIONS;
	opts.one_each = true;
	opts.what = BB_OBJECT_TIME_AND_COUNT;
	/* passes on only packets or only contexts, as programs of this type take them */
	opts.packets.n = is_run && !t->takes_context ? opts.packets.n : 0;
	opts.contexts.n = is_run && t->takes_context ? opts.contexts.n : 0;
	int rc = bb_object_scenario__make(&opts, &text, err);
	if (rc == -ENOTSUP) {
		leave_out(p, BB_GATE_SKIPPED, err->msg);
		return 0;
	}
	if (!rc)
		rc = bb_scenario__parse(text.text, strlen(text.text), o->path, &scenario, err);
	bb_object_scenario__done(&text);
	return rc ? rc : add_job(run, scenario, err);
}

static int add_pair(struct bb_gate_run *run, const struct bb_built_object *o,
		    const struct bb_object_program *base, const struct bb_object_program *head,
		    struct bb_err *err)
{
	struct bb_gate *g = &run->gate;
	struct bb_gate_program *p = bb_gate__add(g, o->path, head->name, BB_GATE_COMPARED);
	char own[BB_NAME_MAX_BYTES + 1], object[BB_NAME_MAX_BYTES + 1],
		label[2 * BB_NAME_MAX_BYTES + 2], why[200];
	bool taken = true, same = false;

	/* names the program "file.program", or "path.program" if that name is taken */
	bb_name_from(p->program, strlen(p->program), own);
	for (int whole = 0; taken && whole < 2; whole++) {
		bb_object_name_from(whole ? p->object : basename(p->object), object);
		snprintf(label, sizeof(label), "%s.%s", object, own);
		taken = BB_ANY(g->programs, g->n_programs, bb_same_text(it->label, label));
	}
	p->program_at = strlen(label) - strlen(own);
	p->label = bb_strdup(label);
	if (strcmp(base->name, head->name))
		p->why = bb_asprintf("called '%s' in base, and attached in the same place",
				     base->name);
	int rc = run->opts->force ? 0 : compare_captured(o, base->name, head->name, &same, err);
	if (rc || same) {
		p->state = BB_GATE_SAME;
		return rc;
	}
	if (base->type == head->type)
		return add_object_job(run, o, base, head, err);
	snprintf(why, sizeof(why), "its type was %s and is %s", bb_prog_type_name(base->type).text,
		 bb_prog_type_name(head->type).text);
	leave_out(p, BB_GATE_SKIPPED, why);
	return 0;
}

/* Returns true if `q` is attached where `p` is, and `other` has no program with its name. */
static bool competes(const struct bb_object_program *q, const struct bb_object_program *p,
		     const struct bb_object_info *other)
{
	return q->type == p->type && !strcmp(q->section, p->section) &&
	       !bb_object_info__find(other, q->name);
}

/* Returns the program of `other` (the other revision) to compare with `p` of `own`, or NULL. It has
 * the same name. In captures, programs without a namesake are paired by attach point: the first one
 * at a point with the first, the second with the second, and so on. */
static const struct bb_object_program *partner_of(const struct bb_object_info *own,
						  const struct bb_object_program *p,
						  const struct bb_object_info *other)
{
	const struct bb_object_program *found = bb_object_info__find(other, p->name);
	size_t before = 0;

	if (found || !own->is_capture || !other->is_capture || !strcmp(p->section, BB_NOT_ATTACHED))
		return found;
	for (size_t i = 0; &own->programs[i] != p; i++)
		before += competes(&own->programs[i], p, other);
	return BB_FIND(other->programs, other->n_programs, competes(it, p, own) && !before--);
}

static int add_programs(struct bb_gate_run *run, const struct bb_built_object *o,
			struct bb_err *err)
{
	struct bb_object_info info[BB_N_REVISIONS] = {0};
	int rc = 0;

	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_object_info__read(o->file[r], &info[r], err);
	for (int r = BB_HEAD; !rc && r >= BB_BASE; r--)
		for (size_t i = 0; !rc && i < info[r].n_programs; i++) {
			const struct bb_object_program *p = &info[r].programs[i],
						       *other = partner_of(&info[r], p, &info[!r]);

			if (!bb_object_opts__wants(&run->opts->drive, p->name))
				continue;
			if (!other)
				add_left_out(run, o->path, p->name,
					     r == BB_HEAD ? BB_GATE_NEW : BB_GATE_GONE, NULL);
			else if (r == BB_HEAD)
				rc = add_pair(run, o, other, p, err);
		}
	for (int r = 0; r < BB_N_REVISIONS; r++)
		bb_object_info__done(&info[r]);
	return rc;
}

static int compare_objects(const struct bb_gate_run *run, const struct bb_built_object *o,
			   enum bb_gate_state *ret_state, struct bb_err *err)
{
	bool base = o->file[BB_BASE], head = o->file[BB_HEAD], same = false;
	int rc = 0;

	if (base && head && !run->opts->force)
		rc = bb_built_object__is_same(o, &same, err);
	*ret_state = !head   ? BB_GATE_GONE
		     : !base ? BB_GATE_NEW
		     : same  ? BB_GATE_SAME
			     : BB_GATE_COMPARED;
	return rc;
}

static int add_objects(struct bb_gate_run *run, struct bb_err *err)
{
	const struct bb_built_objects *objects = &run->builds->objects;
	int rc = 0;

	for (size_t i = 0; !rc && i < objects->n; i++) {
		const struct bb_built_object *o = &objects->v[i];
		enum bb_gate_state state;

		rc = compare_objects(run, o, &state, err);
		if (!rc && state == BB_GATE_COMPARED && !run->opts->guests)
			rc = add_programs(run, o, err);
		else if (!rc)
			add_left_out(run, o->path, NULL, state, NULL);
		/* running out of time is no error: the object is skipped */
		if (rc == -ETIME) {
			rc = 0;
			add_left_out(run, o->path, NULL, BB_GATE_SKIPPED,
				     "the budget was over before its programs were found");
		}
	}
	return rc;
}

/* Returns a variant's built object, or NULL if there is none or several have its name. */
static const struct bb_built_object *object_of(const struct bb_gate_run *run,
					       const struct bb_scenario *s,
					       const struct bb_variant_spec *v)
{
	const char *name = bb_variant_object(s, v);

	return name ? bb_built_objects__find(&run->builds->objects, name) : NULL;
}

/* The job's scenario has two copies of the variant. Other variants use head's objects. */
static int add_variant(struct bb_gate_run *run, const char *variant,
		       const struct bb_built_object *o, struct bb_err *err)
{
	struct bb_gate_program *p = bb_gate__add(&run->gate, o->path, variant, BB_GATE_COMPARED);
	struct bb_scenario *s = NULL;
	int rc = bb_scenario__read(run->opts->scenario, false, &s, err);

	if (rc)
		return rc;
	p->label = bb_asprintf("%s.%s", s->name, variant);
	p->program_at = strlen(s->name) + 1;
	for (size_t i = 0; i < s->n_variants; i++) {
		const struct bb_built_object *built = object_of(run, s, &s->variants[i]);

		if (built && built->file[BB_HEAD])
			s->variants[i].object = bb_arena__own(&s->arena,
							      bb_strdup(built->file[BB_HEAD]));
	}
	for (int r = 0; !rc && r < BB_N_REVISIONS; r++)
		rc = bb_scenario__add_variant(s, bb_revision_names[r], variant, o->file[r], err);
	if (rc) {
		bb_scenario__free(s);
		return rc;
	}
	s->name = bb_arena__own(&s->arena, bb_strdup(p->label));
	return add_job(run, s, err);
}

static int add_variants(struct bb_gate_run *run, struct bb_err *err)
{
	struct bb_scenario *s = NULL;
	int rc = bb_scenario__read(run->opts->scenario, false, &s, err);

	if (!rc && run->opts->exact && !BB_ANY(s->drives, s->n_drives, it->kind->counts))
		rc = bb_fail(err, -EINVAL,
			     "%s: --exact takes a drive {with: exact}, and it has none", s->path);
	for (size_t i = 0; !rc && i < s->n_variants; i++) {
		const struct bb_variant_spec *v = &s->variants[i];
		const struct bb_built_object *o = object_of(run, s, v);
		const char *name = bb_variant_object(s, v);
		bool is_floor = bb_same_text(s->floor, v->name) ||
				BB_ANY(s->drives, s->n_drives, bb_same_text(it->floor, v->name));
		enum bb_gate_state state;

		if (is_floor) /* a floor (empty program) is only subtracted, never compared */
			continue;
		if (!o) {
			add_left_out(run, name ? name : "", v->name, BB_GATE_SKIPPED,
				     "neither build made its object, or more than one of that "
				     "name");
			continue;
		}
		rc = compare_objects(run, o, &state, err);
		if (!rc && state == BB_GATE_COMPARED)
			rc = add_variant(run, v->name, o, err);
		else if (!rc)
			add_left_out(run, o->path, v->name, state, NULL);
	}
	bb_scenario__free(s);
	return rc;
}

static int check_objects(const struct bb_gate_run *run, struct bb_err *err)
{
	const struct bb_built_objects *objects = &run->builds->objects;
	const struct bb_gate_opts *o = run->opts;

	for (size_t i = 0; i < o->objects.n; i++)
		if (!bb_built_objects__find(objects, o->objects.v[i]))
			return bb_fail(err, -ENOENT,
				       "%s: neither build made it; --object takes a path from the "
				       "top of the tree",
				       o->objects.v[i]);
	if (!objects->n)
		return bb_fail(err, -ENOENT,
			       "neither build made a *.bpf.o; which files are the BPF objects? "
			       "--object PATH, and --build COMMAND if `%s` does not make them",
			       o->build ? o->build : "make");
	if (BB_ANY(objects->v, objects->n, it->file[BB_BASE] && it->file[BB_HEAD]))
		return 0;
	return bb_fail(err, -ENOENT, "base and head have no object in common: %s is only in %s",
		       objects->v[0].path, bb_revision_names[objects->v[0].file[BB_HEAD] != NULL]);
}

static int find_programs(struct bb_gate_run *run, struct bb_err *err)
{
	double budget_s = run->opts->budget_s, captured_s = run->builds->spent_s;
	uint64_t began_ns = bb_now_ns();
	struct bb_deadline budget;
	int rc = check_objects(run, err);

	bb_deadline__begin(&budget, budget_s > 0 ? fmax(budget_s - captured_s, 1e-3) : 0);
	if (!rc)
		rc = run->opts->scenario ? add_variants(run, err) : add_objects(run, err);
	bb_deadline__end(&budget);
	run->gate.spent_s = captured_s + bb_seconds_since(began_ns);
	return rc;
}

int bb_gate_run__open(const struct bb_gate_opts *opts, struct bb_gate_run **ret_run,
		      struct bb_err *err)
{
	struct bb_gate_run *run = bb_calloc(1, sizeof(*run));
	struct bb_gate_builds *builds = bb_calloc(1, sizeof(*builds));
	const struct bb_repo *repo = &builds->repo;
	struct bb_stats_enable stats = {.fd = -1};
	struct bb_gate *g = &run->gate;

	run->opts = builds->opts = opts;
	run->builds = builds;
	builds->gate = g;
	*g = (struct bb_gate){.threshold = opts->threshold,
			      .alpha = opts->alpha,
			      .complexity = opts->complexity,
			      .grow = opts->grow,
			      .each_s = opts->each_s,
			      .budget_s = opts->budget_s,
			      .exact = opts->exact,
			      .tree = repo->tree,
			      .base = bb_strdup(opts->base),
			      .head = opts->head ? bb_strdup(opts->head) : NULL};
	int rc = bb_repo__open(opts->dir, &builds->repo, err);
	if (!rc)
		rc = bb_repo__resolve(repo, opts->base, g->base_commit, err);
	if (!rc)
		rc = bb_repo__resolve(repo, opts->head ? opts->head : "HEAD", g->head_commit, err);
	if (!rc && opts->merge_base)
		rc = bb_repo__merge_base(repo, g->base_commit, g->head_commit, g->base_commit, err);
	if (!rc && !opts->head)
		rc = bb_repo__is_dirty(repo, &g->dirty, err);
	/* Checks for root's rights before the builds, because they may take long. */
	if (!rc && !opts->guests)
		rc = bb_stats_enable__on(&stats, err);
	bb_stats_enable__off(&stats);
	if (!rc)
		rc = bb_gate_builds__make(builds, err);
	if (!rc)
		rc = find_programs(run, err);
	if (rc)
		bb_gate_run__close(run, NULL);
	else
		*ret_run = run;
	return rc;
}

int bb_gate_run__close(struct bb_gate_run *run, struct bb_err *err)
{
	if (!run)
		return 0;
	for (size_t i = 0; i < run->n_jobs; i++) {
		bb_plan__done(&run->jobs[i].plan);
		bb_scenario__free(run->jobs[i].scenario);
	}
	free(run->jobs);
	bb_gate__done(&run->gate);
	bb_built_objects__done(&run->builds->objects);
	int rc = bb_repo__close(&run->builds->repo, err);
	free(run->builds);
	free(run);
	return rc;
}

static bool has_alert(const struct bb_gate_program *p, const struct bb_report *r)
{
	return BB_ANY(r->comparisons, r->n_comparisons,
		      it->verdict == BB_VERDICT_REGRESSED && bb_gate__owns(p, it->name));
}

static bool is_todo(const struct bb_gate_run *run, const struct bb_gate_job *job,
		    const struct bb_report *first)
{
	const struct bb_gate_program *p = &run->gate.programs[job->program];
	const struct bb_exact_diff *counted = &run->gate.counted;

	if (p->state != BB_GATE_COMPARED || !first)
		return p->state == BB_GATE_COMPARED;
	return has_alert(p, first) ||
	       BB_ANY(counted->rows, run->gate.exact ? counted->n_rows : 0,
		      it->verdict == BB_VERDICT_REGRESSED && bb_gate__owns(p, it->name));
}

size_t bb_gate_run__todo(const struct bb_gate_run *run, const struct bb_report *first)
{
	return BB_SUM(run->jobs, run->n_jobs, is_todo(run, it, first));
}

static const char *why_not(const struct bb_report *r, const char *label, enum bb_revision revision)
{
	char what[3 * BB_NAME_MAX_BYTES];

	snprintf(what, sizeof(what), "%s/%s", label, bb_revision_names[revision]);
	const struct bb_skip *skip = BB_FIND(r->skips, r->n_skips, !strcmp(it->what, what));
	return skip ? skip->why : NULL;
}

/* The times are optional, so only -EINTR is returned as an error. */
static int time_lines(struct bb_gate_run *run, struct bb_gate_job *job,
		      const struct bb_run_opts *opts, struct bb_report *report)
{
	const char *drive = "lines";
	const struct bb_plan_opts plan_opts = {.variants = {bb_revision_names, BB_N_REVISIONS},
					       .drives = {&drive, 1},
					       .loads = BB_LINES_LOADS,
					       .samples = BB_LINES_SAMPLES};
	/* uses a report of its own, because `report` lists these programs already */
	struct bb_report *timed = bb_report__new();
	struct bb_run_opts lines = *opts;
	struct bb_err unsaid = {0};

	/* the old plan becomes invalid when drives are added to its scenario */
	bb_plan__done(&job->plan);
	int rc = bb_scenario__add_twins(job->scenario, BB_TWIN_LINES, &unsaid);
	if (!rc)
		rc = bb_plan__make(job->scenario, &plan_opts, &job->plan, &unsaid);
	lines.share_maps = lines.skip_failing = true;
	lines.budget_s = run->opts->each_s;
	lines.budget_option = "--each";
	if (!rc)
		rc = bb_run_plan(&job->plan, &lines, timed, &unsaid);
	for (size_t i = 0; !rc && i < timed->n_timed; i++) {
		struct bb_timed *t = BB_ADD(bb_timed_record, report, timed);

		*t = timed->timed[i];
		timed->timed[i] = (struct bb_timed){0};
	}
	bb_report__free(timed);
	return rc == -EINTR ? rc : 0;
}

static int time_all_lines(struct bb_gate_run *run, const struct bb_run_opts *opts,
			  struct bb_report *report, struct bb_err *err)
{
	const struct bb_time_diff_opts diff = {.base = bb_revision_names[BB_BASE],
					       .head = bb_revision_names[BB_HEAD],
					       .threshold = run->opts->threshold,
					       .alpha = run->opts->alpha,
					       .option = "--each",
					       .amount = run->opts->each_s};
	int rc = 0;

	for (size_t i = 0; !rc && i < run->n_jobs; i++)
		if (has_alert(&run->gate.programs[run->jobs[i].program], report))
			rc = time_lines(run, &run->jobs[i], opts, report);
	if (rc)
		return rc;
	rc = report->n_timed ? bb_time_diff__make(report, &diff, &run->gate.timed, err) : 0;
	return rc == -ENODATA ? 0 : rc;
}

/* `left` programs, this one included, share the time that is left. */
static int measure_job(struct bb_gate_run *run, struct bb_gate_job *job, struct bb_ab_opts *ab,
		       size_t left, struct bb_report *report, struct bb_err *err)
{
	struct bb_gate_program *p = &run->gate.programs[job->program];
	double share_s = fmax(bb_deadline_left_s(), 1e-3) / (double)left;
	const char *base, *head;
	bool failed;

	ab->run.budget_s = fmin(run->opts->each_s, share_s);
	ab->run.budget_option = share_s < run->opts->each_s ? "--budget" : "--each";
	ab->patience_s = fmin(PATIENCE_S, share_s - ab->run.budget_s);
	int rc = bb_deadline_has_passed
			 ? bb_fail(err, -ETIME, "the budget was over before its turn")
			 : bb_run_ab(&job->plan, ab, report, err);
	if (rc == -ETIME) {
		p->is_late = true;
		leave_out(p, BB_GATE_SKIPPED, err->msg);
		return 0;
	}
	if (!rc || rc == -EINTR || report->incomplete)
		return rc;
	/* the program failed only if head's version does not load and base's does */
	base = why_not(report, p->label, BB_BASE);
	head = why_not(report, p->label, BB_HEAD);
	failed = head && !base;
	leave_out(p, failed ? BB_GATE_FAILED : BB_GATE_SKIPPED,
		  failed ? head
		  : base ? base
			 : err->msg);
	return 0;
}

int bb_gate_run__measure(struct bb_gate_run *run, const struct bb_run_opts *opts,
			 const struct bb_report *first, struct bb_report *report,
			 struct bb_err *err)
{
	struct bb_ab_opts ab = {
		.run = *opts,
		.base = bb_revision_names[BB_BASE],
		.head = bb_revision_names[BB_HEAD],
		.threshold = run->opts->threshold,
		.alpha = run->opts->alpha,
		.count = true,
		.executed = true,
	};
	size_t left = bb_gate_run__todo(run, first);
	struct bb_gate *g = &run->gate;
	struct bb_deadline budget;
	int rc = 0;

	for (size_t i = 0; i < run->n_jobs; i++)
		if (is_todo(run, &run->jobs[i], first))
			ab.n_family += bb_ab_n_comparisons(&run->jobs[i].plan, ab.base);
	ab.run.skip_failing = true;
	/* Commands of a scenario run as the user who built the tree, not as root. */
	ab.run.driver.uid = run->builds->repo.uid;
	ab.run.driver.gid = run->builds->repo.gid;
	bb_deadline__begin(&budget, opts->budget_s);
	for (size_t i = 0; !rc && i < run->n_jobs; i++) {
		if (!is_todo(run, &run->jobs[i], first))
			continue;
		ab.run.seed = opts->seed + i;
		rc = measure_job(run, &run->jobs[i], &ab, left--, report, err);
	}
	ab.run.seed = opts->seed;
	if (!rc && first)
		rc = time_all_lines(run, &ab.run, report, err);
	bb_deadline__end(&budget);
	/* bb_exact_diff__make() returns -ENODATA if no program was counted in both revisions. This
	 * is no error, because skips in the report name these programs. */
	if (!rc && report->n_counted)
		rc = bb_exact_diff__make(report, report, bb_revision_names[BB_BASE],
					 bb_revision_names[BB_HEAD],
					 first ? &g->counted_again : &g->counted, err);
	return rc == -ENODATA ? 0 : rc;
}
