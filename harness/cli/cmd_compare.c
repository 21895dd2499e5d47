/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/caller.h"
#include "base/deadline.h"
#include "base/text.h"
#include "bpf/object_info.h"
#include "cli/diff_view.h"
#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/output.h"
#include "cli/traced_run.h"
#include "cli/paths.h"
#include "cli/vm_run.h"
#include "core/drive_kind.h"
#include "export/documents.h"
#include "run/ab.h"
#include "store/store.h"

#define DEFAULT_BUDGET_S 10.0
#define MOST_BUDGET_S 120.0 /* largest default budget of several programs together, s */
#define DEFAULT_PAIRS 24u   /* pairs of loads, if there is neither --loads nor a budget */

struct compare_args {
	struct bb_measure_args measure;
	struct bb_object_args object; /* two objects, the base first; with --vm also one alone */
	const char *scenario, *base, *head, *base_object, *head_object;
	struct bb_strings drives;
	uint32_t loads;
	bool cold;
	bool exact;              /* compare instruction counts only, without tolerance */
	bool time;               /* compare the time of each line */
	double threshold, alpha; /* shares: 0.01 is 1 % */
	const char *runs[2], *baseline, *save_baseline; /* names of stored runs */
	bool force;
	struct bb_diff_view view;
};

#define ARGS struct compare_args

static void read_stored(const struct bb_option *, const char *text, void *runs)
{
	const char **run = runs;

	bb_refuse("two arguments at the most: OLD NEW", run[0] && run[1]);
	run[run[0] != NULL] = text;
}

static const struct bb_option program_options[] = {
	{"scenario", 's', "NAME", bb_read_text, BB_ARG(scenario),
	 "the scenario with the drives and the variants"},
	{"base", 0, "VARIANT", bb_read_text, BB_ARG(base), "the old variant"},
	{"head", 0, "VARIANT", bb_read_text, BB_ARG(head), "the new variant"},
	{"base-object", 0, "FILE", bb_read_text, BB_ARG(base_object),
	 "the BPF object with the old program (or OLD.o NEW.o, or --object twice)"},
	{"head-object", 0, "FILE", bb_read_text, BB_ARG(head_object),
	 "the BPF object with the new program"},
	{"drive", 'd', "NAME", bb_read_strings, BB_ARG(drives),
	 "only this drive of the scenario (repeatable)"},
	{"cold", 0, NULL, bb_read_flag, BB_ARG(cold),
	 "also run each step drive with emptied caches, as step-cold (see `run --help`)"},
	{0},
};

static const struct bb_option stored_options[] = {
	{"baseline", 0, "NAME", bb_read_text, BB_ARG(baseline),
	 "OLD is this: a saved baseline, a run id or a file"},
	{"save-baseline", 0, "NAME", bb_read_text, BB_ARG(save_baseline),
	 "save NEW (default: the latest run) under this name"},
	{"force", 0, NULL, bb_read_flag, BB_ARG(force), "judge runs of different machines, too"},
	{0},
};

static const struct bb_option judge_options[] = {
	{"threshold", 0, "PERCENT", bb_read_percent, BB_ARG(threshold),
	 "smallest difference that matters (default 1)"},
	{"alpha", 0, "SHARE", bb_read_double, BB_ARG(alpha),
	 "chance of a false verdict over all comparisons together (default 0.05)", 1e-6, 0.5},
	{"loads", 0, "N", bb_read_u32, BB_ARG(loads),
	 "stop after this many pairs of loads (default: at a verdict or at the end of the budget; "
	 "24 with --budget 0)",
	 1, 10000},
	{"fail-on", 0, "VERDICT", bb_read_verdict, BB_ARG(view.fail_on),
	 "exit with code 3 if any verdict is this: regressed"},
	{"exact", 0, NULL, bb_read_flag, BB_ARG(exact),
	 "compare instruction counts only (drive exact): any increase is a regression and exits "
	 "with code 3; prints the lines of source that differ"},
	{"time", 0, NULL, bb_read_flag, BB_ARG(time),
	 "compare the time of each line and call (drive lines): which lines is the difference in?"},
	{0},
};

static const struct bb_option view_options[] = {
	{"sort", 0, "COLUMN", bb_read_text, BB_ARG(view.sort),
	 "one of " BB_DIFF_COLUMNS "; with :desc in descending order"},
	{"filter", 0, "EXPRESSION", bb_read_strings, BB_ARG(view.filters),
	 "only rows for which this holds, such as verdict=regressed, percent>1 or name~*step* "
	 "(repeatable)"},
	{"details", 0, NULL, bb_read_flag, BB_ARG(view.details),
	 "with --exact and --time: every row and line, not the largest differences alone; "
	 "otherwise, of stored runs: percentiles, too"},
	{0},
};

static void check_what(const struct compare_args *a)
{
	const struct bb_object_args *o = &a->object;
	bool objects = a->base_object || a->head_object || o->objects.n;
	bool live = a->scenario || a->base || a->head || objects || bb_object_args__any(o);
	bool stored = a->runs[0] || a->baseline || a->save_baseline;
	bool selects = a->view.sort || a->view.filters.n;

	bb_refuse("either programs to measure now (--scenario, --base, --head) or stored runs, not "
		  "both",
		  live && stored);
	bb_refuse("compare needs --scenario S --base V1 --head V2, or two stored runs, or "
		  "--baseline NAME",
		  !live && !stored);
	bb_refuse("--base-object and --head-object go together",
		  live && !a->base_object != !a->head_object);
	bb_refuse("either --object twice or --base-object and --head-object",
		  live && a->base_object && o->objects.n);
	bb_refuse("one object is compared between kernels: compare OBJECT --vm KERNEL,KERNEL",
		  a->measure.kernels && o->objects.n == 1 && !strchr(a->measure.kernels, ','));
	if (live && o->objects.n && o->objects.n != 2 && !(a->measure.kernels && o->objects.n == 1))
		bb_usage_error("two objects are compared, not %zu: --object OLD --object NEW",
			       o->objects.n);
	bb_refuse("a comparison needs --scenario, --base and --head, or two objects",
		  live && !objects && (!a->scenario || !a->base || !a->head));
	bb_refuse("objects take the place of one variant of a --scenario: one --program",
		  a->scenario && o->opts.programs.n > 1);
	bb_refuse("--packet, --ctx and --trigger are for objects without a --scenario, which has "
		  "its own",
		  a->scenario && (o->opts.packets.n || o->opts.contexts.n || o->opts.trigger));
	bb_refuse("--vm compares two objects (`compare OLD.o NEW.o --vm KERNEL`), or one between "
		  "kernels (`compare PROG.o --vm KERNEL,KERNEL`), without --scenario, --drive, "
		  "--cold, --loads, --exact, --time, --sort, --filter, --base, --head and "
		  "--fail-on",
		  a->measure.kernels && (!objects || a->scenario || a->drives.n || a->cold ||
					 a->loads || a->exact || a->time || selects || a->base ||
					 a->head || a->view.fail_on != BB_VERDICT_INCONCLUSIVE));
	bb_refuse("--force is for stored runs", live && a->force);
	bb_refuse("--loads, --drive and --cold are for programs measured now",
		  stored && (a->loads || a->drives.n || a->cold));
	bb_refuse("--format and --output are for programs measured now; stored runs give one "
		  "table, on stdout",
		  stored && (a->measure.format || a->measure.output));
	bb_refuse("--exact does not go together with --sort, --filter, --loads, --drive or "
		  "--format",
		  a->exact && (selects || a->loads || a->drives.n || a->measure.format));
	bb_refuse("--time does not go together with --exact, --sort, --filter, --drive or --format",
		  a->time && (a->exact || selects || a->drives.n || a->measure.format));
	bb_refuse("--details is for stored runs, --exact and --time; `show --details` has "
		  "everything about a run",
		  a->view.details && live && !a->exact && !a->time);
	bb_refuse("--sort and --filter are for the table of `compare`, not for --format or "
		  "--output",
		  (a->measure.format || a->measure.output) && selects);
}

static void check_args(void *args)
{
	struct compare_args *a = args;
	struct bb_diffs none = {0};
	struct bb_err err = {0};

	/* arguments that both end in ".o" are BPF objects and not stored runs */
	bool takes_objects = a->measure.kernels || (a->runs[1] && bb_ends_in(a->runs[0], ".o") &&
						    bb_ends_in(a->runs[1], ".o"));
	for (int i = 0; i < 2 && takes_objects; i++)
		if (a->runs[i])
			bb_strings__append(&a->object.objects, a->runs[i]);
	if (takes_objects)
		a->runs[0] = a->runs[1] = NULL;
	check_what(a);
	/* finds errors in --sort and --filter before the measurement */
	int rc = a->view.sort ? bb_diff_sort(&none, a->view.sort, &err) : 0;
	for (size_t i = 0; !rc && i < a->view.filters.n; i++)
		rc = bb_diff_filter(&none, a->view.filters.v[i], &err);
	bb_diffs__done(&none);
	if (rc)
		bb_usage_error("%s", err.msg);
	a->object.opts.what = a->time    ? BB_OBJECT_LINES
			      : a->exact ? BB_OBJECT_COUNT
					 : BB_OBJECT_TIME;
	a->object.opts.hook |= BB_ANY(a->drives.v, a->drives.n, !strcmp(*it, "hook"));
	if (a->base_object) {
		bb_strings__append(&a->object.objects, a->base_object);
		bb_strings__append(&a->object.objects, a->head_object);
	}
	if (a->measure.output && !a->measure.format)
		a->measure.format = bb_exporter_find("table");
}

static const struct bb_usage usage = {
	.arguments = "[OLD NEW]",
	.doc = "Compare two programs, measured in turns now, or two stored runs. OLD and NEW are "
	       "objects if their names end in .o; each program that both have is compared.",
	.more = "Programs that are measured now take turns, in ABBA or BAAB blocks for each pair "
		"of loads. The verdict is on pairs at the same JIT address modulo 64, and comes as "
		"soon as the interval allows it: regressed, improved, same (within the threshold) "
		"or inconclusive. The exit code is 3 only with --fail-on or --exact, and never for "
		"inconclusive. Ctrl-C ends the measurement: the verdicts so far are printed, and "
		"the exit code is 1. Stored runs share no randomisation: their intervals are "
		"wider, and runs of different machines are inconclusive without --force. The "
		"default budget is 10 s a program, for functions of user space (`call`) 30 s, and "
		"for several programs at most 120 s.",
	.example = "  sudo bpfbench compare old.bpf.o new.bpf.o\n"
		   "  sudo bpfbench compare -s perf_profiler --base ringbuf --head stackmap\n"
		   "  bpfbench compare --baseline main latest\n"
		   "  bpfbench compare old.bpf.o new.bpf.o --vm 5.10,6.12\n"
		   "  bpfbench compare prog.bpf.o --vm 6.1,6.12\n",
	.lists_formats = true,
	.sets = {{"Two programs, measured now and in turns:", program_options, 0},
		 {"Their programs and inputs:", bb_object_options, BB_ARG_AT(object)},
		 {"Or two stored runs, `compare OLD NEW`:", stored_options, 0},
		 {"Or two objects in other kernels, `compare OLD.o NEW.o --vm KERNEL`, or one "
		  "between kernels, `compare PROG.o --vm KERNEL,KERNEL`:",
		  bb_vm_options, BB_ARG_AT(measure)},
		 {"How to judge, and when to stop:", judge_options, 0},
		 BB_MEASURE_SETS(BB_ARG_AT(measure)),
		 {"Rows of the table:", view_options, 0}},
	.argument = {.read = read_stored, .at = BB_ARG_AT(runs)},
	.check = check_args,
};

/* If `base` is NULL, compares base and head of the run `run`. Otherwise compares the stored runs
 * `base` and `run`. */
static struct bb_compared compared_of(const struct compare_args *a, const struct bb_report *base,
				      const struct bb_report *run)
{
	return (struct bb_compared){
		.run = run,
		.of = {.base = a->base,
		       .head = a->head,
		       .base_run = base,
		       .threshold = a->threshold,
		       .alpha = a->alpha},
		.loads = a->loads,
		.budget_s = a->measure.budget_s,
		.is_exact = a->exact,
		.details = a->view.details,
	};
}

/* With --exact any increase makes the command fail, unless --fail-on names another verdict. */
static int add_compared(const struct compare_args *a, const struct bb_compared *c,
			struct bb_doc_sides sides, struct bb_doc *d, struct bb_err *err)
{
	bool fails = a->view.fail_on != BB_VERDICT_INCONCLUSIVE;
	enum bb_verdict counted = fails ? a->view.fail_on : BB_VERDICT_REGRESSED;
	size_t n;
	int rc = bb_compared__add(c, sides, counted, &n, d, err);

	return rc || !n || (a->time && !fails) ? rc : BB_EXIT_REGRESSION;
}

/* Prints what was measured. If a signal ended the measurement, the verdicts so far are printed.
 * After any other failure nothing goes to stdout, and the cases go to stderr. */
static int show_measured(const struct compare_args *a, const struct bb_report *r, int rc,
			 int exit_code, struct bb_err *err)
{
	bool failed = rc && rc != -EINTR, has_table = !a->time && !a->exact;
	const struct bb_compared compared = compared_of(a, NULL, r);
	const struct bb_doc_sides sides = {r, a->base, a->head};
	struct bb_doc table = {0}, d = {0};
	struct bb_diffs diffs = {0};
	int shown = 0, said = 0;

	if (!(a->time ? r->n_timed : a->exact ? r->n_counted : r->n_cases))
		return exit_code;
	if (a->exact && !failed)
		bb_print_skips(r);
	if (rc && !failed && !a->measure.format && r->incomplete)
		printf("INCOMPLETE: %s\n\n", r->incomplete);
	if (!failed && (a->time || a->exact)) {
		shown = add_compared(a, &compared, sides, &table, err);
	} else if (!failed && !a->measure.format) {
		bb_diff_comparisons(r, 0, r->n_comparisons, &diffs);
		shown = bb_diff_view__add(&a->view, &diffs, sides, &table, err);
		bb_diffs__done(&diffs);
	}
	if (shown >= 0)
		said = bb_output_document(&table, stdout, err);
	if (shown >= 0 && has_table && !a->measure.format && !a->measure.quiet) {
		if (!failed)
			putchar('\n');
		if (failed)
			bb_doc_short(r, &d);
		else
			bb_doc_short_rest(r, &d);
		said = said ? said : bb_output_document(&d, failed ? stderr : stdout, err);
	}
	if (failed || said)
		return said ? said : exit_code;
	for (size_t i = 0; a->measure.format && i < r->n_comparisons; i++)
		if (a->view.fail_on != BB_VERDICT_INCONCLUSIVE &&
		    r->comparisons[i].verdict == a->view.fail_on)
			shown = BB_EXIT_REGRESSION;
	return shown < 0 || exit_code == BB_EXIT_OK ? shown : exit_code;
}

/* Returns the user's name for a stored run, with the run's id in parentheses unless the name
 * contains it. The caller frees it. */
static char *name_side(const char *named, const struct bb_report *r)
{
	return strstr(named, r->id) ? bb_strdup(named) : bb_asprintf("%s (%s)", named, r->id);
}

/* Returns a command line that measures the programs of both runs again, in turns. The caller frees
 * it. */
static char *in_turns_command(const struct bb_report *new, const struct bb_diffs *diffs)
{
	const char *command = new->command ? new->command : "";
	const struct bb_diff *open = BB_FIND(diffs->rows, diffs->n,
					     it->has_verdict &&
						     it->verdict == BB_VERDICT_INCONCLUSIVE),
			     *row = open ? open
					 : BB_FIND(diffs->rows, diffs->n,
						   it->has_verdict &&
							   it->verdict != BB_VERDICT_SAME);
	const struct bb_case *c = row ? bb_report__find_case(new, row->name) : NULL;
	char *scenario, *text;

	if (strstr(command, " --object"))
		return bb_strdup("`sudo bpfbench compare OLD.o NEW.o`");
	if (strstr(command, " -- ") || strstr(command, " --capture"))
		return bb_strdup("`sudo bpfbench capture -o FILE -- LOADER` of both versions, then "
				 "`sudo bpfbench compare --base-object OLD --head-object NEW`");
	scenario = bb_command_value(command, "--scenario");
	if (!scenario)
		scenario = bb_command_value(command, "-s");
	text = bb_asprintf("`sudo bpfbench compare --scenario %s --base %s OLD.o NEW.o`",
			   scenario ? scenario : "SCENARIO", c ? c->variant : "VARIANT");
	free(scenario);
	return text;
}

static void add_next_of_stored(const struct bb_report *old, const struct bb_report *new,
			       const struct bb_diffs *diffs, struct bb_doc *d)
{
	/* --seconds is for live programs that are watched, not for those in test runs */
	bool is_live = BB_ANY(new->cases, new->n_cases,
			      it->is_live && bb_drive_kind_named(it->drive)->seconds > 0);
	bool is_open = bb_diffs_count(diffs, BB_VERDICT_INCONCLUSIVE);
	bool is_changed = bb_diffs_count(diffs, BB_VERDICT_REGRESSED) ||
			  bb_diffs_count(diffs, BB_VERDICT_IMPROVED);
	const char *label = "next";
	double most = 0;

	for (size_t i = 0; i < diffs->n; i++)
		most = fmax(most, diffs->rows[i].decides);
	if (is_live && is_open) {
		bb_doc__add(d, BB_DOC_FAINT, "next",
			    "both looks again, longer, while the programs do the same work");
		if (most > 0)
			bb_doc__append(d, ": `--seconds %.0f` should decide", most);
	}
	if (is_changed && ((old->n_timed && new->n_timed) || (old->n_counted && new->n_counted))) {
		bb_doc__add(d, BB_DOC_FAINT, label,
			    "the same with `--%s` (which lines the "
			    "difference is in)",
			    old->n_timed && new->n_timed ? "time" : "exact");
		label = "then";
	}
	if (is_live || !(is_open || is_changed)) {
		if (!is_live)
			bb_doc__add(d, BB_DOC_FAINT, label, "%s",
				    BB_ANY(diffs->rows, diffs->n, it->has_verdict)
					    ? "nothing has to be done"
					    : "compare runs of the same programs under the same "
					      "drives: these have no case in common");
		return;
	}
	char *in_turns = in_turns_command(new, diffs);
	bb_doc__add(d, BB_DOC_FAINT, label, "%s (measures both now, in turns: %s)", in_turns,
		    is_open ? "decides what two runs cannot" : "confirms it");
	if (most > 0)
		bb_doc__add(d, BB_DOC_FAINT, "or", "both runs again with `--loads %.0f`", most);
	free(in_turns);
}

static int show_reports(const struct compare_args *a, const struct bb_report *old,
			const struct bb_report *new, struct bb_doc_sides sides, struct bb_err *err)
{
	const struct bb_diff_opts opts = {a->threshold, a->alpha, a->force};
	struct bb_compared compared = compared_of(a, old, new);
	struct bb_diffs d = {0};
	struct bb_doc doc = {0};
	int rc = 0, said;

	if (!a->exact)
		rc = bb_check_resolution(a->threshold, a->measure.results, &new->fingerprint, err);
	if (!rc && !a->exact)
		rc = bb_diff_reports(old, new, &opts, &d, err);
	compared.of.whole = a->time ? &d : NULL;
	if (!rc)
		rc = a->time || a->exact ? add_compared(a, &compared, sides, &doc, err)
					 : bb_diff_view__add(&a->view, &d, sides, &doc, err);
	if (rc >= 0 && !a->time && !a->exact) {
		bb_doc_in_vain_of_runs(old, new, &doc);
		add_next_of_stored(old, new, &d, &doc);
	}
	said = rc < 0 ? 0 : bb_output_document(&doc, stdout, err);
	bb_diffs__done(&d);
	return said ? said : rc;
}

static int compare_stored(const struct compare_args *a, struct bb_err *err)
{
	bool two = a->runs[1] != NULL;
	const char *old = a->baseline ? a->baseline : two ? a->runs[0] : NULL;
	const char *new = two ? a->runs[1] : a->runs[0] ? a->runs[0] : "latest";
	struct bb_report *of_old = NULL, *of_new = NULL;

	if (a->baseline && two)
		return bb_fail(err, -EINVAL, "with --baseline only one run is named: the new one");
	if (!old && !a->save_baseline)
		return bb_fail(err, -EINVAL, "two runs are needed, OLD NEW, or --baseline");
	int rc = bb_baseline__read(new, a->measure.results, &of_new, err);
	if (!rc && old)
		rc = bb_baseline__read(old, a->measure.results, &of_old, err);
	if (!rc && old) {
		char *renamed = bb_report__rename_like(of_old, of_new);
		char *sides[2] = {name_side(old, of_old), name_side(new, of_new)};

		if (renamed)
			bb_add_words(&sides[0], "; ", "its object '%s' takes the name of B's",
				     renamed);
		rc = show_reports(a, of_old, of_new,
				  (struct bb_doc_sides){NULL, sides[0], sides[1]}, err);
		free(renamed);
		free(sides[0]);
		free(sides[1]);
	}
	if (rc >= 0 && a->save_baseline) {
		int saved = bb_baseline__save(a->measure.results, a->save_baseline, of_new->id,
					      err);

		if (!saved)
			bb_tell("baseline '%s' is %s", a->save_baseline, of_new->id);
		rc = saved ? saved : rc;
	}
	bb_report__free(of_old);
	bb_report__free(of_new);
	return rc;
}

/* Two objects become the variants "base" and "head". With --scenario, these are copies of variants
 * of that scenario, with the programs of the objects. If `program` is NULL, a copy keeps the name
 * of its program. */
static int make_scenario(struct compare_args *a, const char *program,
			 struct bb_scenario **ret_scenario, struct bb_err *err)
{
	struct bb_object_args object = a->object;
	const char *like[2] = {a->base, a->head ? a->head : a->base};
	const char *const names[2] = {"base", "head"};
	struct bb_object_scenario text = {0};
	int rc;

	if (program)
		object.opts.programs = (struct bb_strings){&program, 1};
	if (a->scenario)
		rc = bb_scenario_find(a->scenario, false, ret_scenario, err);
	else
		rc = bb_object_args__scenario(&object, true, &text, ret_scenario, err);
	/* `text` has no skipped programs, because the program of each object can be made to run */
	bb_object_scenario__done(&text);
	if (rc || !a->object.objects.n)
		return rc;
	if (a->scenario && !a->base)
		return bb_fail(err, -EINVAL,
			       "which variant of '%s' do the objects replace? --base VARIANT",
			       a->scenario);
	for (int i = 0; !rc && a->scenario && i < 2; i++) {
		const char *file = a->object.objects.v[i];
		char *path = realpath(file, NULL);
		struct bb_scenario *s = *ret_scenario;

		if (!bb_scenario__variant(s, like[i]))
			rc = bb_fail(err, -ENOENT,
				     "scenario '%s' has no variant '%s' that the objects could "
				     "replace: name one with --base",
				     s->name, like[i]);
		else if (!path)
			rc = bb_fail(err, -errno, "%s: %m", file);
		else
			rc = bb_scenario__add_variant(s, names[i], like[i], path, err);
		if (!rc && program)
			s->variants[s->n_variants - 1].program = bb_arena__own(&s->arena,
									       bb_strdup(program));
		free(path);
	}
	a->base = names[0];
	a->head = names[1];
	return rc;
}

/* One comparison: of a program that both objects have, or of two variants of a scenario. */
struct compare_job {
	struct bb_scenario *scenario;
	struct bb_plan plan;
};

struct compare_jobs {
	struct compare_job *v;
	size_t n;
	struct bb_object_skip *skips; /* programs that cannot be compared */
	size_t n_skips;
	size_t n_comparisons; /* comparisons of all jobs, which share alpha */
	double budget_s;      /* default budget of all jobs together, s */
};

/* `budget_s` is for this job alone. */
static int measure_job(const struct compare_args *a, const struct compare_jobs *jobs, size_t job,
		       double budget_s, struct bb_measure *m, struct bb_err *err)
{
	const struct bb_plan *plan = &jobs->v[job].plan;
	struct bb_ab_opts opts = {
		.base = a->base,
		.head = a->head,
		.threshold = a->threshold,
		.alpha = a->alpha,
		.max_pairs = a->loads                  ? a->loads
			     : a->measure.budget_s > 0 ? 0
						       : DEFAULT_PAIRS,
		.n_family = jobs->n_comparisons,
		.executed = true,
	};
	const struct bb_compared compared = compared_of(a, NULL, NULL);
	const struct bb_time_diff_opts lines = bb_compared__lines(&compared);

	opts.run = m->opts;
	opts.run.share_maps = a->time;
	opts.run.lines = a->time && !a->loads ? &lines : NULL;
	opts.run.budget_s = budget_s;
	opts.run.seed += job;
	return a->exact || a->time ? bb_run_plan(plan, &opts.run, m->report, err)
				   : bb_run_ab(plan, &opts, m->report, err);
}

/* The jobs share the budget. If one of several jobs fails, it becomes a skip. The last error is
 * returned only if all jobs fail. */
static int measure(const struct compare_args *a, const struct compare_jobs *jobs,
		   struct bb_measure *m, struct bb_err *err)
{
	struct bb_deadline budget;
	size_t n_failed = 0;
	int rc = 0;

	for (size_t i = 0; i < jobs->n_skips; i++)
		bb_report__add_skip(m->report, jobs->skips[i].what, jobs->skips[i].why);
	if (jobs->n == 1)
		return measure_job(a, jobs, 0, a->measure.budget_s, m, err);
	bb_deadline__begin(&budget, a->measure.budget_s);
	for (size_t i = 0; !rc && i < jobs->n; i++) {
		double share_s = bb_deadline_left_s() / (double)(jobs->n - i);

		rc = measure_job(a, jobs, i, isfinite(share_s) ? fmax(share_s, 1e-3) : 0, m, err);
		if (!rc || rc == -EINTR || m->report->incomplete || ++n_failed == jobs->n)
			continue;
		bb_report__add_skip(m->report, jobs->v[i].scenario->name, err->msg);
		rc = 0;
	}
	bb_deadline__end(&budget);
	return rc;
}

/* If `program` is NULL, compares the only program of each object, or two variants of the
 * scenario. */
static int add_job(struct compare_args *a, const char *program, struct compare_jobs *jobs,
		   struct bb_err *err)
{
	static const char *const exact[] = {"exact"}, *const by_line[] = {"lines", "lines-cold"};
	double budget_s = a->time ? BB_TIME_BUDGET_S : DEFAULT_BUDGET_S;
	struct bb_scenario *scenario = NULL;
	const char *variants[2];
	struct bb_plan_opts opts = {.variants = {variants, 2}};
	int rc = make_scenario(a, program, &scenario, err);

	if (rc)
		return rc;
	struct compare_job *job = bb_append(&jobs->v, &jobs->n, sizeof(*job));
	*job = (struct compare_job){.scenario = scenario};
	variants[0] = a->base;
	variants[1] = a->head;
	opts.drives = a->exact  ? (struct bb_strings){exact, 1}
		      : a->time ? (struct bb_strings){by_line, a->cold ? 2 : 1}
				: a->drives;
	if (a->time) {
		opts.loads = a->loads ? a->loads : BB_LINES_LOADS;
		opts.samples = BB_LINES_SAMPLES;
		rc = bb_scenario__add_twins(scenario, BB_TWIN_LINES, err);
	}
	if (!rc && a->cold)
		rc = bb_scenario__add_twins(scenario, BB_TWIN_COLD, err);
	if (!rc)
		rc = bb_plan__make(scenario, &opts, &job->plan, err);
	if (rc)
		return rc;
	for (size_t i = 0; !a->time && i < job->plan.n_cases; i++)
		budget_s = fmax(budget_s, job->plan.cases[i].drive->kind->compare_s);
	jobs->n_comparisons += bb_ab_n_comparisons(&job->plan, a->base);
	jobs->budget_s += budget_s;
	return 0;
}

/* Adds a job for each program that both objects have, in the order of head. The other programs of
 * each object become one skip. */
static int add_pairs(struct compare_args *a, const struct bb_object_info info[2],
		     struct compare_jobs *jobs, struct bb_err *err)
{
	bool has_common = false;
	int rc = 0;

	for (int side = 1; !rc && side >= 0; side--) {
		char *only = NULL;

		for (size_t i = 0; !rc && i < info[side].n_programs; i++) {
			const char *name = info[side].programs[i].name;

			if (!bb_object_opts__wants(&a->object.opts, name))
				continue;
			if (!bb_object_info__find(&info[!side], name)) {
				bb_add_words(&only, ", ", "%s", name);
				continue;
			}
			has_common = true;
			if (side)
				rc = add_job(a, name, jobs, err);
			if (rc != -ENOTSUP)
				continue;
			BB_PUSH(jobs->skips, jobs->n_skips,
				(struct bb_object_skip){bb_strdup(name), bb_strdup(err->msg)});
			rc = 0;
		}
		if (only)
			BB_PUSH(jobs->skips, jobs->n_skips,
				(struct bb_object_skip){only, bb_strdup(side ? "only in NEW"
									     : "only in OLD")});
	}
	if (rc || jobs->n)
		return rc;
	return bb_fail(err, has_common ? -ENOTSUP : -ENOENT, "no program can be compared: %s: %s",
		       jobs->skips[0].what, jobs->skips[0].why);
}

/* If each object has only one program, these two are compared, whatever their names are. */
static int add_jobs(struct compare_args *a, struct compare_jobs *jobs, struct bb_err *err)
{
	const struct bb_strings *objects = &a->object.objects, *named = &a->object.opts.programs;
	struct bb_object_info info[2] = {0};
	int rc = 0;

	if (a->scenario || named->n == 1)
		return add_job(a, named->n ? named->v[0] : NULL, jobs, err);
	for (int i = 0; !rc && i < 2; i++) {
		const char *path = bb_object_args__path(objects->v[i]);

		rc = bb_object_info__read(path, &info[i], err);
		for (size_t k = 0; !rc && k < named->n; k++)
			rc = bb_object_info__need_program(&info[i], path, named->v[k], err);
	}
	if (!rc)
		rc = info[0].n_programs == 1 && info[1].n_programs == 1
			     ? add_job(a, NULL, jobs, err)
			     : add_pairs(a, info, jobs, err);
	for (int i = 0; i < 2; i++)
		bb_object_info__done(&info[i]);
	return rc;
}

static int compare_now(struct compare_args *a, struct bb_err *err)
{
	struct compare_jobs jobs = {0};
	struct bb_measure m;
	int rc = add_jobs(a, &jobs, err);
	bool takes_cpu = BB_ANY(jobs.v, jobs.n, bb_plan_takes_cpu(&it->plan));

	if (!a->measure.has_budget)
		a->measure.budget_s = jobs.n > 1 ? fmin(jobs.budget_s, MOST_BUDGET_S)
						 : jobs.budget_s;
	if (!rc && !a->exact && !a->time)
		rc = bb_check_resolution(a->threshold, a->measure.results, NULL, err);
	if (!rc)
		rc = bb_measure__begin(&a->measure, "compare", takes_cpu, &m, err);
	if (!rc) {
		int ended = measure(a, &jobs, &m, err);

		rc = show_measured(a, m.report, ended, bb_measure__deliver(&m, ended, err), err);
		bb_measure__end(&m);
	}
	for (size_t i = 0; i < jobs.n; i++) {
		bb_plan__done(&jobs.v[i].plan);
		bb_scenario__free(jobs.v[i].scenario);
	}
	for (size_t i = 0; i < jobs.n_skips; i++) {
		free(jobs.skips[i].what);
		free(jobs.skips[i].why);
	}
	free(jobs.v);
	free(jobs.skips);
	return rc;
}

static int compare_in_guests(const struct compare_args *a, struct bb_err *err)
{
	static const struct bb_matrix_pair pair = {.base = "base", .head = "head"};
	static const struct bb_matrix_judge judge = {.pairs = &pair, .n_pairs = 1};
	static struct bb_vm_work work = {.name = "compare"};
	struct bb_object_args both = {.opts = a->object.opts};
	bool has_pair = a->object.objects.n == 2;
	const struct bb_object_args *objects = has_pair ? &both : &a->object;
	struct bb_traced_opts traced = {
		.between_kernels = !has_pair,
		.is_markdown = a->measure.format && a->measure.format->is_markdown,
	};
	bool is_for_people = !a->measure.format || traced.is_markdown ||
			     !strcmp(a->measure.format->name, "table");
	const char *paths[2] = {NULL, NULL};
	int traced_rc, rc;

	both.opts.full_names = true;
	for (int i = 0; has_pair && i < 2; i++) {
		paths[i] = bb_object_args__path(a->object.objects.v[i]);
		bb_strings__append(&both.objects,
				   bb_asprintf("%s=%s", i ? pair.head : pair.base, paths[i]));
	}
	rc = bb_vm__begin_work(&work, &a->measure, objects, err);
	bb_vm__name_drives(&work, NULL, &a->drives, 0, 0);
	work.judge = has_pair ? &judge : NULL;
	if (!rc)
		rc = bb_vm__measure(&a->measure, &work, err);
	/* Skip the trace if --output names a file, which gets only the table, if the format is for
	 * programs, or if both paths name one object. */
	if (rc < 0 || a->measure.output || !is_for_people ||
	    (has_pair && !strcmp(paths[0], paths[1])))
		return rc;
	traced.base = paths[0];
	traced.head = paths[1];
	traced_rc = bb_traced_run(&a->measure, objects, &traced, err);
	return traced_rc ? traced_rc : rc;
}

int bb_cmd_compare(int argc, char **argv, struct bb_err *err)
{
	static struct compare_args a = {.threshold = 0.01, .alpha = BB_ALPHA};

	bb_measure_args__init(&a.measure, argv, DEFAULT_BUDGET_S);
	bb_usage__parse(&usage, argc, argv, &a);
	if (a.measure.kernels)
		return compare_in_guests(&a, err);
	/* check_what() has refused stored runs together with programs to measure */
	if (a.scenario || a.object.objects.n)
		return compare_now(&a, err);
	int rc = bb_caller__become(err);
	return rc ? rc : compare_stored(&a, err);
}
