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
	size_t n_runs;
};

enum {
	KEY_BASE = 0x100,
	KEY_HEAD,
	KEY_BASE_OBJECT,
	KEY_HEAD_OBJECT,
	KEY_LOADS,
	KEY_THRESHOLD,
	KEY_ALPHA,
	KEY_FAIL_ON,
	KEY_EXACT,
	KEY_TIME,
	KEY_SORT,
	KEY_FILTER,
	KEY_FORCE,
	KEY_BASELINE,
	KEY_SAVE_BASELINE,
	KEY_COLD
};

static const struct argp_option options[] = {
	{NULL, 0, NULL, 0, "Two programs, measured now and in turns:", 1},
	{"scenario", 's', "NAME", 0, "the scenario with the drives and the variants", 1},
	{"base", KEY_BASE, "VARIANT", 0, "the old variant", 1},
	{"head", KEY_HEAD, "VARIANT", 0, "the new variant", 1},
	{"base-object", KEY_BASE_OBJECT, "FILE", 0,
	 "the BPF object with the old program (or --object twice: old, new)", 1},
	{"head-object", KEY_HEAD_OBJECT, "FILE", 0, "the BPF object with the new program", 1},
	{"drive", 'd', "NAME", 0, "only this drive of the scenario (repeatable)", 1},
	{"cold", KEY_COLD, NULL, 0,
	 "also run each step drive with emptied caches, as step-cold (see `run --help`)", 1},
	{NULL, 0, NULL, 0, "Or two stored runs, `compare OLD NEW`:", 2},
	{"baseline", KEY_BASELINE, "NAME", 0, "OLD is this: a saved baseline, a run id or a file",
	 2},
	{"save-baseline", KEY_SAVE_BASELINE, "NAME", 0,
	 "save NEW (default: the latest run) under this name", 2},
	{"force", KEY_FORCE, NULL, 0, "judge runs of different machines, too", 2},
	{NULL, 0, NULL, 0, "How to judge, and when to stop:", 3},
	{"threshold", KEY_THRESHOLD, "PERCENT", 0, "smallest difference that matters (default 1)",
	 3},
	{"alpha", KEY_ALPHA, "SHARE", 0,
	 "chance of a false verdict over all comparisons together (default 0.05)", 3},
	{"loads", KEY_LOADS, "N", 0,
	 "stop after this many pairs of loads (default: at a verdict or at the end of the budget; "
	 "24 with --budget 0)",
	 3},
	{"fail-on", KEY_FAIL_ON, "VERDICT", 0, "exit with code 3 if any verdict is this: regressed",
	 3},
	{"exact", KEY_EXACT, NULL, 0,
	 "compare instruction counts only (drive exact): any increase is a regression and exits "
	 "with code 3; prints the lines of source that differ",
	 3},
	{"time", KEY_TIME, NULL, 0,
	 "compare the time of each line and call (drive lines): which lines is the difference in?",
	 3},
	{NULL, 0, NULL, 0, "Rows of the table:", 5},
	{"sort", KEY_SORT, "COLUMN", 0,
	 "one of " BB_DIFF_COLUMNS "; with :desc in descending order", 5},
	{"filter", KEY_FILTER, "EXPRESSION", 0,
	 "only rows for which this holds, such as verdict=regressed, percent>1 or name~*step* "
	 "(repeatable)",
	 5},
	{0},
};

static enum bb_verdict verdict_of(const struct argp_state *state, const char *arg)
{
	enum bb_verdict v;

	if (bb_verdict_from_name(arg, &v) || v == BB_VERDICT_INCONCLUSIVE)
		bb_usage_error(state,
			       "--fail-on takes regressed, improved or same, not '%s' "
			       "(inconclusive never fails)",
			       arg);
	return v;
}

/* A mistake in these should not be found out after ten seconds of measuring. */
static void check_view(const struct compare_args *a, const struct argp_state *state)
{
	struct bb_diffs none = {0};
	struct bb_err err = {0};
	int rc = a->compare.sort ? bb_diff_sort(&none, a->compare.sort, &err) : 0;

	for (size_t i = 0; !rc && i < a->compare.filters.n; i++)
		rc = bb_diff_filter(&none, a->compare.filters.v[i], &err);
	bb_diffs__done(&none);
	if (rc)
		bb_usage_error(state, "%s", err.msg);
}

static void check_what(const struct compare_args *a, const struct argp_state *state)
{
	const struct bb_object_args *o = &a->object;
	bool objects = a->base_object || a->head_object || o->objects.n;
	bool live = a->scenario || a->base || a->head || objects || bb_object_args__any(o);
	bool stored = a->n_runs || a->compare.baseline || a->compare.save_baseline;

	if (live && stored)
		bb_usage_error(state, "either programs to measure now (--scenario, --base, "
				      "--head) or stored runs, not both");
	if (!live && !stored)
		bb_usage_error(state, "compare needs --scenario S --base V1 --head V2, or two "
				      "stored runs, or --baseline NAME");
	if (live && !a->base_object != !a->head_object)
		bb_usage_error(state, "--base-object and --head-object go together");
	if (live && a->base_object && o->objects.n)
		bb_usage_error(state, "either --object twice or --base-object and --head-object");
	if (live && o->objects.n && o->objects.n != 2)
		bb_usage_error(state,
			       "two objects are compared, not %zu: --object OLD --object NEW",
			       o->objects.n);
	if (live && !a->base_object && !o->objects.n && (!a->scenario || !a->base || !a->head))
		bb_usage_error(state, "a comparison needs --scenario, --base and --head, or two "
				      "objects");
	if (o->programs.n > 1)
		bb_usage_error(state, "one --program of the two objects is compared");
	if (a->scenario && (o->packets.n || o->contexts.n || o->trigger))
		bb_usage_error(state, "--packet, --ctx and --trigger are for objects without a "
				      "--scenario, which has its own");
	if (live && a->compare.force)
		bb_usage_error(state, "--force is for stored runs");
	if (stored && (a->loads || a->drives.n || a->cold))
		bb_usage_error(state, "--loads, --drive and --cold are for programs measured now");
	if (stored && (a->measure.format || a->measure.output))
		bb_usage_error(state, "--format and --output are for programs measured now; "
				      "stored runs give one table, on stdout");
	if (a->compare.exact && (a->compare.sort || a->compare.filters.n || a->loads ||
				 a->drives.n || a->measure.format))
		bb_usage_error(state, "--exact does not go together with --sort, --filter, "
				      "--loads, --drive or --format");
	if (a->compare.time && (a->compare.exact || a->compare.sort || a->compare.filters.n ||
				a->drives.n || a->measure.format))
		bb_usage_error(state, "--time does not go together with --exact, --sort, "
				      "--filter, --drive or --format");
	if ((a->measure.format || a->measure.output) && (a->compare.sort || a->compare.filters.n))
		bb_usage_error(state, "--sort and --filter are for the table of `compare`, not "
				      "for --format or --output");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct compare_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->measure;
		state->child_inputs[1] = &a->object;
		break;
	case 's': a->scenario = arg; break;
	case 'd':
		bb_strings_add(&a->drives, arg, state);
		a->object.hook |= !strcmp(arg, "hook");
		break;
	case KEY_BASE: a->base = arg; break;
	case KEY_HEAD: a->head = arg; break;
	case KEY_BASE_OBJECT: a->base_object = arg; break;
	case KEY_HEAD_OBJECT: a->head_object = arg; break;
	case KEY_LOADS: a->loads = bb_option_u32(state, "loads", arg, 1, 10000); break;
	case KEY_COLD: a->cold = true; break;
	case KEY_THRESHOLD:
		a->compare.threshold = bb_option_percent(state, "threshold", arg);
		break;
	case KEY_ALPHA: a->compare.alpha = bb_option_double(state, "alpha", arg, 1e-6, 0.5); break;
	case KEY_FAIL_ON: a->compare.fail_on = verdict_of(state, arg); break;
	case KEY_EXACT: a->compare.exact = a->object.exact = true; break;
	case KEY_TIME: a->compare.time = a->object.lines = true; break;
	case KEY_SORT: a->compare.sort = arg; break;
	case KEY_FILTER: bb_strings_add(&a->compare.filters, arg, state); break;
	case KEY_FORCE: a->compare.force = true; break;
	case KEY_BASELINE: a->compare.baseline = arg; break;
	case KEY_SAVE_BASELINE: a->compare.save_baseline = arg; break;
	case ARGP_KEY_ARG:
		if (a->n_runs == 2)
			bb_usage_error(state, "two stored runs at the most: OLD NEW");
		a->runs[a->n_runs++] = arg;
		break;
	case ARGP_KEY_END:
		check_what(a, state);
		check_view(a, state);
		if (a->base_object) {
			bb_strings_add(&a->object.objects, a->base_object, state);
			bb_strings_add(&a->object.objects, a->head_object, state);
		}
		if (a->measure.output && !a->measure.format)
			a->measure.format = bb_exporter_find("table");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&bb_measure_argp, 0, "How to measure:", 4},
					     {&bb_object_argp, 0, "Their programs and inputs:", 1},
					     {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[OLD NEW]",
	.doc = "Compare two programs, measured in turns now, or two stored runs.\v"
	       "Programs that are measured now take turns, in ABBA or BAAB blocks for each pair "
	       "of loads. The verdict is on pairs at the same JIT address mod 64, and comes as "
	       "soon as the interval allows it: regressed, improved, same (within the threshold) "
	       "or inconclusive. The exit code is 3 only with --fail-on or --exact, and never for "
	       "inconclusive. Ctrl-C ends the measurement: the verdicts so far are printed, and "
	       "the "
	       "exit code is 1. Stored runs share no randomisation: their intervals are wider, and "
	       "runs of different machines are inconclusive without --force. The default budget "
	       "is 10 s, for functions of user space (`call`) 30 s.",
	.children = children,
	.help_filter = bb_help_formats,
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
static int show_live(const struct compare_args *a, const struct bb_report *report, int rc,
		     int exit_code)
{
	struct bb_err err = {0};

	if (a->compare.time)
		return exit_code == BB_EXIT_OK
			       ? bb_compare_show_time(&a->compare, NULL, report, a->base, a->head)
			       : exit_code;
	if (a->compare.exact) {
		for (size_t i = 0; i < report->n_skips && report->n_counted; i++)
			fprintf(stderr, "bpfbench: skipped %s: %s\n", report->skips[i].what,
				report->skips[i].why);
		return exit_code == BB_EXIT_OK && report->n_counted
			       ? bb_compare_show_exact(&a->compare, report, report, a->base,
						       a->head)
			       : exit_code;
	}
	if (!report->n_cases)
		return exit_code;
	if (!a->measure.format && !a->measure.quiet &&
	    (rc && rc != -EINTR ? bb_export_table(report, stderr, &err)
				: bb_export_table_of_cases(report, stderr, &err)))
		exit_code = bb_complain(&err);
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

static int compare_live(struct compare_args *a, const char *command)
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
		rc = a->compare.exact || a->compare.time
			     ? bb_run_plan(&plan, &m.opts, m.report, &err)
			     : run_in_turns(a, &plan, &m, &err);
		exit_code = show_live(a, m.report, rc, bb_measure__deliver(&m, rc, &err));
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
	bb_parse_options(&argp, argc, argv, 0, &a);
	/* check_what() has seen to it that stored runs come without */
	if (a.scenario || a.object.objects.n)
		exit_code = compare_live(&a, command ? command : "");
	else if (bb_caller__become(&err))
		exit_code = bb_complain(&err);
	else
		exit_code = bb_compare_show_stored(&a.compare, a.measure.results, a.runs, a.n_runs);
	free(command);
	free(a.drives.v);
	free(a.compare.filters.v);
	bb_object_args__done(&a.object);
	return exit_code;
}
