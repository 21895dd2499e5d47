/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "base/parse.h"
#include "cli/cmd.h"
#include "cli/history_print.h"
#include "cli/options.h"
#include "judge/timeline.h"

struct history_args {
	const char *scenario, *results;
	struct bb_strings variants, drives;
	struct bb_history_rule rule;
	bool tsv;
};

enum { KEY_THRESHOLD = 0x100, KEY_WINDOW };

static const struct argp_option options[] = {
	{"variant", 'V', "NAME", 0, "only this variant (repeatable)", 0},
	{"drive", 'd', "NAME", 0, "only this drive: step, in-situ, ... (repeatable)", 0},
	{"threshold", KEY_THRESHOLD, "PERCENT", 0, "smallest change that matters (default 1)", 0},
	{"window", KEY_WINDOW, "N", 0,
	 "history window: judge by the last N to 30 runs, N from 20 to 30 (default 20)", 0},
	{"format", 'f', "NAME", 0, "table (default), or tsv for gnuplot", 0},
	BB_RESULTS_OPTION,
	{0},
};

static bool parse_format(const struct argp_state *state, const char *text)
{
	if (strcmp(text, "table") && strcmp(text, "tsv"))
		bb_usage_error(state, "no format '%s'; there are: table, tsv", text);
	return !strcmp(text, "tsv");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct history_args *a = state->input;

	switch (key) {
	case 'V': bb_strings_add(&a->variants, arg, state); break;
	case 'd': bb_strings_add(&a->drives, arg, state); break;
	case 'f': a->tsv = parse_format(state, arg); break;
	case KEY_THRESHOLD: a->rule.eps = bb_option_percent(state, "threshold", arg); break;
	case KEY_WINDOW:
		a->rule.window_min = bb_option_u32(state, "window", arg, 20,
						   (uint32_t)a->rule.window_max);
		break;
	case BB_KEY_RESULTS: a->results = arg; break;
	case ARGP_KEY_ARG:
		if (a->scenario)
			bb_usage_error(state, "one scenario at a time");
		a->scenario = arg;
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[SCENARIO]",
	.doc = "Show each variant over all stored runs, and where it changed.\v"
	       "The ratio of a program to the anchor program of the same run (the floor, unless "
	       "the scenario names another) is judged against the median of the runs before. A "
	       "run beyond max(threshold, prediction interval) is suspect; two in agreement are a "
	       "change. Runs on another kernel, CPU, clang or mitigations than the newest run are "
	       "shown and not judged. Measures nothing.",
};

/* A file that is no run must not hide the others. */
static void say_passed_over(void *arg, const char *why)
{
	(void)arg;
	fprintf(stderr, "bpfbench: passed over: %s\n", why);
}

/* Nothing fits: why, from what there is. */
static int say_nothing(const struct history_args *a, struct bb_err *err)
{
	struct bb_timeline_opts all = {.rule = bb_history_default_rule};
	struct bb_timeline t = {0};
	const char **names, *near;
	int rc = bb_timeline__read(a->results, &all, &t, err);

	if (rc)
		return rc;
	names = calloc(t.n_cases + 1, sizeof(*names));
	for (size_t i = 0; names && i < t.n_cases; i++)
		names[i] = t.cases[i].scenario;
	near = names && a->scenario ? bb_nearest(a->scenario, names, t.n_cases) : NULL;
	if (!t.n_runs)
		rc = bb_fail(err, -ENOENT,
			     "%s: no runs are stored there yet (a run stores itself; --results "
			     "DIR looks elsewhere)",
			     a->results);
	else if (near && strcmp(near, a->scenario))
		rc = bb_fail(err, -ENOENT,
			     "no stored run of the scenario '%s' in %s; did you mean '%s'?",
			     a->scenario, a->results, near);
	else
		rc = bb_fail(err, -ENOENT,
			     "none of the %zu runs in %s has such a case; `bpfbench history` "
			     "without arguments shows all",
			     t.n_runs, a->results);
	free(names);
	bb_timeline__done(&t);
	return rc;
}

int bb_cmd_history(int argc, char **argv)
{
	struct history_args a = {.results = BB_RESULTS, .rule = bb_history_default_rule};
	struct bb_timeline_opts opts = {.passed_over = say_passed_over};
	struct bb_timeline t = {0};
	struct bb_err err = {0};
	int rc;

	bb_parse_options(&argp, argc, argv, 0, &a);
	opts.rule = a.rule;
	opts.filter = (struct bb_timeline_filter){
		.scenario = a.scenario,
		.variants = a.variants.v,
		.n_variants = a.variants.n,
		.drives = a.drives.v,
		.n_drives = a.drives.n,
	};
	rc = bb_timeline__read(a.results, &opts, &t, &err);
	if (!rc && !t.n_cases)
		rc = say_nothing(&a, &err);
	if (!rc)
		rc = a.tsv ? bb_history_print_tsv(&t, NULL, stdout)
			   : bb_history_print_table(&t, stdout);
	if (rc && !err.code)
		bb_fail_nomem(&err);
	if (!rc)
		rc = bb_clean__check(stdout, "stdout", &err);
	bb_timeline__done(&t);
	free(a.variants.v);
	free(a.drives.v);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
