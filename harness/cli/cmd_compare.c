/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caller.h"
#include "cli/cmd.h"
#include "cli/compare_show.h"
#include "cli/formats.h"
#include "cli/measure.h"
#include "cli/object_options.h"
#include "cli/options.h"
#include "cli/output.h"
#include "export/documents.h"
#include "judge/diff.h"
#include "run/ab.h"

#define DEFAULT_BUDGET_S 10.0
#define DEFAULT_ALPHA 0.05
#define DEFAULT_PAIRS 24u /* when there is no budget either */
/* of --time: enough loads for a verdict on each of a thousand lines */
#define TIME_LOADS 16u
#define TIME_SAMPLES 6400u
#define TIME_BUDGET_S 18.0

struct compare_args {
	struct bb_measure_args measure;
	struct bb_compare_opts compare;
	struct bb_object_args object; /* two objects, the base first */
	const char *scenario, *base, *head, *base_object, *head_object;
	char base_path[PATH_MAX], head_path[PATH_MAX]; /* of the two objects */
	struct bb_strings drives;
	uint32_t loads;
	bool cold;
	const char *runs[2];
};

#define AT(member) offsetof(struct compare_args, member)
#define TO(member) .at = AT(member)

static void read_verdict(const struct bb_option *o, const char *text, void *ret_verdict)
{
	enum bb_verdict v;

	(void)o;
	if (bb_verdict_from_name(text, &v) || v == BB_VERDICT_INCONCLUSIVE)
		bb_usage_error("--fail-on takes regressed, improved or same, not '%s' "
			       "(inconclusive never fails)",
			       text);
	*(enum bb_verdict *)ret_verdict = v;
}

/* The first or the second of two. */
static void read_stored(const struct bb_option *o, const char *text, void *runs)
{
	const char **run = runs;

	(void)o;
	if (run[0] && run[1])
		bb_usage_error("two stored runs at the most: OLD NEW");
	run[run[0] != NULL] = text;
}

static const struct bb_option program_options[] = {
	{"scenario", 's', "NAME", "the scenario with the drives and the variants", bb_read_text,
	 TO(scenario)},
	{"base", 0, "VARIANT", "the old variant", bb_read_text, TO(base)},
	{"head", 0, "VARIANT", "the new variant", bb_read_text, TO(head)},
	{"base-object", 0, "FILE",
	 "the BPF object with the old program (or --object twice: old, new)", bb_read_text,
	 TO(base_object)},
	{"head-object", 0, "FILE", "the BPF object with the new program", bb_read_text,
	 TO(head_object)},
	{"drive", 'd', "NAME", "only this drive of the scenario (repeatable)", bb_read_strings,
	 TO(drives)},
	{"cold", 0, NULL,
	 "also run each step drive with emptied caches, as step-cold (see `run --help`)",
	 bb_read_flag, TO(cold)},
	{0},
};

static const struct bb_option stored_options[] = {
	{"baseline", 0, "NAME", "OLD is this: a saved baseline, a run id or a file", bb_read_text,
	 TO(compare.baseline)},
	{"save-baseline", 0, "NAME", "save NEW (default: the latest run) under this name",
	 bb_read_text, TO(compare.save_baseline)},
	{"force", 0, NULL, "judge runs of different machines, too", bb_read_flag,
	 TO(compare.force)},
	{0},
};

static const struct bb_option judge_options[] = {
	{"threshold", 0, "PERCENT", "smallest difference that matters (default 1)", bb_read_percent,
	 TO(compare.threshold)},
	{"alpha", 0, "SHARE",
	 "chance of a false verdict over all comparisons together (default 0.05)", bb_read_double,
	 TO(compare.alpha), 1e-6, 0.5},
	{"loads", 0, "N",
	 "stop after this many pairs of loads (default: at a verdict or at the end of the budget; "
	 "24 with --budget 0)",
	 bb_read_u32, TO(loads), 1, 10000},
	{"fail-on", 0, "VERDICT", "exit with code 3 if any verdict is this: regressed",
	 read_verdict, TO(compare.fail_on)},
	{"exact", 0, NULL,
	 "compare instruction counts only (drive exact): any increase is a regression and exits "
	 "with code 3; prints the lines of source that differ",
	 bb_read_flag, TO(compare.exact)},
	{"time", 0, NULL,
	 "compare the time of each line and call (drive lines): which lines is the difference in?",
	 bb_read_flag, TO(compare.time)},
	{0},
};

static const struct bb_option view_options[] = {
	{"sort", 0, "COLUMN", "one of " BB_DIFF_COLUMNS "; with :desc in descending order",
	 bb_read_text, TO(compare.sort)},
	{"filter", 0, "EXPRESSION",
	 "only rows for which this holds, such as verdict=regressed, percent>1 or name~*step* "
	 "(repeatable)",
	 bb_read_strings, TO(compare.filters)},
	{0},
};

/* A mistake in these should not be found out after ten seconds of measuring. */
static void check_view(const struct compare_args *a)
{
	struct bb_diffs none = {0};
	struct bb_err err = {0};
	int rc = a->compare.sort ? bb_diff_sort(&none, a->compare.sort, &err) : 0;

	for (size_t i = 0; !rc && i < a->compare.filters.n; i++)
		rc = bb_diff_filter(&none, a->compare.filters.v[i], &err);
	bb_diffs__done(&none);
	if (rc)
		bb_usage_error("%s", err.msg);
}

static void check_what(const struct compare_args *a)
{
	const struct bb_object_args *o = &a->object;
	bool objects = a->base_object || a->head_object || o->objects.n;
	bool live = a->scenario || a->base || a->head || objects || bb_object_args__any(o);
	bool stored = a->runs[0] || a->compare.baseline || a->compare.save_baseline;

	if (live && stored)
		bb_usage_error("either programs to measure now (--scenario, --base, "
			       "--head) or stored runs, not both");
	if (!live && !stored)
		bb_usage_error("compare needs --scenario S --base V1 --head V2, or two "
			       "stored runs, or --baseline NAME");
	if (live && !a->base_object != !a->head_object)
		bb_usage_error("--base-object and --head-object go together");
	if (live && a->base_object && o->objects.n)
		bb_usage_error("either --object twice or --base-object and --head-object");
	if (live && o->objects.n && o->objects.n != 2)
		bb_usage_error("two objects are compared, not %zu: --object OLD --object NEW",
			       o->objects.n);
	if (live && !a->base_object && !o->objects.n && (!a->scenario || !a->base || !a->head))
		bb_usage_error("a comparison needs --scenario, --base and --head, or two "
			       "objects");
	if (o->programs.n > 1)
		bb_usage_error("one --program of the two objects is compared");
	if (a->scenario && (o->packets.n || o->contexts.n || o->trigger))
		bb_usage_error("--packet, --ctx and --trigger are for objects without a "
			       "--scenario, which has its own");
	if (live && a->compare.force)
		bb_usage_error("--force is for stored runs");
	if (stored && (a->loads || a->drives.n || a->cold))
		bb_usage_error("--loads, --drive and --cold are for programs measured now");
	if (stored && (a->measure.format || a->measure.output))
		bb_usage_error("--format and --output are for programs measured now; "
			       "stored runs give one table, on stdout");
	if (a->compare.exact && (a->compare.sort || a->compare.filters.n || a->loads ||
				 a->drives.n || a->measure.format))
		bb_usage_error("--exact does not go together with --sort, --filter, "
			       "--loads, --drive or --format");
	if (a->compare.time && (a->compare.exact || a->compare.sort || a->compare.filters.n ||
				a->drives.n || a->measure.format))
		bb_usage_error("--time does not go together with --exact, --sort, "
			       "--filter, --drive or --format");
	if ((a->measure.format || a->measure.output) && (a->compare.sort || a->compare.filters.n))
		bb_usage_error("--sort and --filter are for the table of `compare`, not "
			       "for --format or --output");
}

static void check_args(void *args)
{
	struct compare_args *a = args;

	check_what(a);
	check_view(a);
	a->object.exact = a->compare.exact;
	a->object.lines = a->compare.time;
	for (size_t i = 0; i < a->drives.n; i++)
		a->object.hook |= !strcmp(a->drives.v[i], "hook");
	if (a->base_object) {
		bb_strings__append(&a->object.objects, a->base_object);
		bb_strings__append(&a->object.objects, a->head_object);
	}
	if (a->measure.output && !a->measure.format)
		a->measure.format = bb_exporter_find("table");
}

static const struct bb_usage usage = {
	.arguments = "[OLD NEW]",
	.doc = "Compare two programs, measured in turns now, or two stored runs.",
	.more = "Programs that are measured now take turns, in ABBA or BAAB blocks for each pair "
		"of loads. The verdict is on pairs at the same JIT address modulo 64, and comes as "
		"soon as the interval allows it: regressed, improved, same (within the threshold) "
		"or inconclusive. The exit code is 3 only with --fail-on or --exact, and never for "
		"inconclusive. Ctrl-C ends the measurement: the verdicts so far are printed, and "
		"the "
		"exit code is 1. Stored runs share no randomisation: their intervals are wider, "
		"and "
		"runs of different machines are inconclusive without --force. The default budget "
		"is 10 s, for functions of user space (`call`) 30 s.",
	.example = "  sudo bpfbench compare --object old.bpf.o --object new.bpf.o\n"
		   "  sudo bpfbench compare -s perf_profiler --base ringbuf --head stackmap\n"
		   "  bpfbench compare --baseline main latest\n",
	.lists_formats = true,
	.sets = {{"Two programs, measured now and in turns:", program_options, 0},
		 {"Their programs and inputs:", bb_object_options, AT(object)},
		 {"Or two stored runs, `compare OLD NEW`:", stored_options, 0},
		 {"How to judge, and when to stop:", judge_options, 0},
		 BB_MEASURE_SETS(AT(measure)),
		 {"Rows of the table:", view_options, 0}},
	.argument = {.read = read_stored, .at = AT(runs)},
	.check = check_args,
};

/* One of the two builds as a variant: like `like`, but of the file at `object`, and of --program if
 * that is given. */
static int add_build(struct bb_scenario *s, const char *name, const char *like, const char *program,
		     const char *object, char *path, struct bb_err *err)
{
	struct bb_variant_spec *v;
	char *copy;
	int rc;

	if (!bb_scenario__variant(s, like))
		return bb_fail(err, -ENOENT,
			       "scenario '%s' has no variant '%s' that the objects could replace: "
			       "name one with --base",
			       s->name, like);
	if (!realpath(object, path))
		return bb_fail(err, -errno, "%s: %s", object, strerror(errno));
	rc = bb_scenario__add_variant(s, name, like, path, err);
	if (rc || !program)
		return rc;
	copy = strdup(program);
	if (!copy)
		return bb_fail_nomem(err);
	v = &s->variants[s->n_variants - 1];
	free(v->program);
	v->program = copy;
	return 0;
}

/* The variants "base" and "head" of the scenario that was named: as its own, but from the two
 * objects. */
static int add_builds(struct compare_args *a, struct bb_scenario *s, struct bb_err *err)
{
	const char *const *objects = a->object.objects.v,
			  *program = a->object.programs.n ? a->object.programs.v[0] : NULL;
	int rc;

	if (!a->base)
		return bb_fail(err, -EINVAL,
			       "which variant of '%s' do the objects replace? --base VARIANT",
			       a->scenario);
	rc = add_build(s, "base", a->base, program, objects[0], a->base_path, err);
	return rc ? rc
		  : add_build(s, "head", a->head ? a->head : a->base, program, objects[1],
			      a->head_path, err);
}

/* The scenario, with variants "base" and "head" of the two objects where there are two. */
static int make_scenario(struct compare_args *a, const struct bb_paths *paths,
			 struct bb_scenario **ret_scenario, struct bb_err *err)
{
	struct bb_object_scenario text = {0};
	int rc;

	if (a->scenario)
		rc = bb_scenario_find(paths, a->scenario, ret_scenario, err);
	else
		rc = bb_object_args__scenario(&a->object, true, &text, ret_scenario, err);
	/* has no skips: each object's program can be driven */
	bb_object_scenario__done(&text);
	if (rc || !a->object.objects.n)
		return rc;
	if (a->scenario)
		rc = add_builds(a, *ret_scenario, err);
	a->base = "base";
	a->head = "head";
	return rc;
}

/*
 * What was measured, on stderr for people unless it is there or on stdout already: the cases with
 * all that stands beside the estimates, and the notes; then on stdout the table of the comparisons,
 * unless another format was asked for. A signal ends the run, and the verdicts stand as they are
 * then; after any other failure there is no result, so stdout stays empty. Returns the exit code.
 */
static int show_measured(const struct compare_args *a, const struct bb_report *report, int rc,
			 int exit_code)
{
	struct bb_doc d = {0};
	struct bb_err err = {0};
	bool has_result = a->compare.time    ? report->n_timed
			  : a->compare.exact ? report->n_counted
					     : report->n_cases;
	int shown;

	if (!has_result)
		return exit_code;
	if (a->compare.time || a->compare.exact) {
		if (rc && rc != -EINTR)
			return exit_code;
		for (size_t i = 0; i < report->n_skips && a->compare.exact; i++)
			fprintf(stderr, "bpfbench: skipped %s: %s\n", report->skips[i].what,
				report->skips[i].why);
		if (rc == -EINTR && report->incomplete)
			printf("INCOMPLETE: %s\n\n", report->incomplete);
		shown = a->compare.time
				? bb_compare_show_time(&a->compare, NULL, report, a->base, a->head)
				: bb_compare_show_exact(&a->compare, report, report, a->base,
							a->head);
		return exit_code == BB_EXIT_OK ? shown : exit_code;
	}
	if (rc && rc != -EINTR)
		bb_doc_run(report, BB_SHORT, &d);
	else
		bb_doc_cases(report, BB_SHORT, &d);
	if (!a->measure.format && !a->measure.quiet && bb_output_document(&d, stderr, &err))
		exit_code = bb_complain(&err);
	bb_doc__done(&d);
	if (rc == -EINTR && !a->measure.format && report->incomplete) {
		printf("INCOMPLETE: %s\n\n", report->incomplete);
		bb_compare_show_measured(&a->compare, report, a->base, a->head);
	}
	if (rc || exit_code != BB_EXIT_OK)
		return exit_code;
	return a->measure.format ? bb_compare_exit_code(&a->compare, report)
				 : bb_compare_show_measured(&a->compare, report, a->base, a->head);
}

static int run_in_turns(const struct compare_args *a, const struct bb_plan *plan,
			struct bb_measure *m, struct bb_err *err)
{
	struct bb_ab_opts opts = {
		.run = m->opts,
		.base = a->base,
		.head = a->head,
		.threshold = a->compare.threshold,
		.alpha = a->compare.alpha,
		.max_pairs = a->loads                  ? a->loads
			     : a->measure.budget_s > 0 ? 0
						       : DEFAULT_PAIRS,
		.executed = true,
	};

	return bb_run_ab(plan, &opts, m->report, err);
}

/* The budget, s, unless the user gives one: the most that a kind of drive asks for. */
static double usual_budget_s(const struct bb_plan *plan)
{
	double most = DEFAULT_BUDGET_S;

	for (size_t i = 0; i < plan->n_cases; i++)
		most = fmax(most, plan->cases[i].drive->kind->compare_s);
	return most;
}

static int compare_now(struct compare_args *a, const char *command)
{
	const char *variants[2], *exact[] = {"exact"}, *by_line[] = {"lines", "lines-cold"};
	struct bb_plan_opts plan_opts = {.variants = variants,
					 .n_variants = 2,
					 .drives = a->drives.v,
					 .n_drives = a->drives.n};
	struct bb_scenario *scenario = NULL;
	struct bb_paths paths = {0};
	struct bb_plan plan = {0};
	struct bb_err err = {0};
	struct bb_measure m = {0};
	int rc = bb_paths__find(&paths, &err), exit_code;

	if (!rc)
		rc = make_scenario(a, &paths, &scenario, &err);
	if (!rc && a->compare.time)
		rc = bb_scenario__add_lines(scenario, &err);
	if (!rc && a->cold)
		rc = bb_scenario__add_cold(scenario, &err);
	variants[0] = a->base;
	variants[1] = a->head;
	if (a->compare.exact)
		plan_opts = (struct bb_plan_opts){.variants = variants,
						  .n_variants = 2,
						  .drives = exact,
						  .n_drives = 1};
	if (a->compare.time)
		plan_opts = (struct bb_plan_opts){.variants = variants,
						  .n_variants = 2,
						  .drives = by_line,
						  .n_drives = a->cold ? 2 : 1,
						  .loads = a->loads ? a->loads : TIME_LOADS,
						  .samples = TIME_SAMPLES};
	if (!rc)
		rc = bb_plan__make(scenario, &plan_opts, &plan, &err);
	if (!rc && !a->measure.has_budget)
		a->measure.budget_s = a->compare.time ? TIME_BUDGET_S : usual_budget_s(&plan);
	if (!rc && !a->compare.exact && !a->compare.time)
		rc = bb_compare_check_resolution(&a->compare, a->measure.results, NULL, &err);
	if (!rc)
		rc = bb_measure__begin(&a->measure, "compare", command, bb_plan_takes_cpu(&plan),
				       &m, &err);
	if (rc) {
		exit_code = bb_complain(&err);
	} else {
		m.opts.share_maps = a->compare.time;
		m.opts.fill_budget = a->compare.time && !a->loads;
		rc = a->compare.exact || a->compare.time
			     ? bb_run_plan(&plan, &m.opts, m.report, &err)
			     : run_in_turns(a, &plan, &m, &err);
		exit_code = show_measured(a, m.report, rc, bb_measure__deliver(&m, rc, &err));
		bb_measure__end(&m);
	}
	bb_plan__done(&plan);
	bb_scenario__free(scenario);
	bb_paths__done(&paths);
	return exit_code;
}

int bb_cmd_compare(int argc, char **argv)
{
	struct compare_args a = {.compare = {.threshold = 0.01, .alpha = DEFAULT_ALPHA}};
	char *command = bb_command_line(argc, argv);
	struct bb_err err = {0};
	int exit_code;

	bb_measure_args__init(&a.measure, NULL, DEFAULT_BUDGET_S);
	bb_usage__parse(&usage, argc, argv, &a);
	/* check_what() has seen to it that stored runs come without */
	if (a.scenario || a.object.objects.n)
		exit_code = compare_now(&a, command ? command : "");
	else if (bb_caller__become(&err))
		exit_code = bb_complain(&err);
	else
		exit_code =
			bb_compare_show_stored(&a.compare, a.measure.results, a.runs,
					       (size_t)(a.runs[0] != NULL) + (a.runs[1] != NULL));
	free(command);
	free(a.drives.v);
	free(a.compare.filters.v);
	bb_object_args__done(&a.object);
	return exit_code;
}
