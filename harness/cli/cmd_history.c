/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "base/parse.h"
#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"
#include "export/documents.h"

struct history_args {
	const char *results;
	struct bb_timeline_opts opts;
	int is_tsv;
	bool all;
};

static const char *const formats[] = {"table", "tsv"};

static void read_window(const struct bb_option *o, const char *text, void *ret_size)
{
	uint32_t n;

	bb_read_u32(o, text, &n);
	*(size_t *)ret_size = n;
}

#define ARGS struct history_args

static const struct bb_option options[] = {
	{"variant", 'V', "NAME", bb_read_strings, BB_ARG(opts.filter.variants),
	 "only this variant (repeatable)"},
	{"drive", 'd', "NAME", bb_read_strings, BB_ARG(opts.filter.drives),
	 "only this drive: step, in-situ, ... (repeatable)"},
	{"threshold", 0, "PERCENT", bb_read_percent, BB_ARG(opts.rule.eps),
	 "smallest change that matters (default 1)"},
	{"window", 0, "N", read_window, BB_ARG(opts.rule.window_min),
	 "history window: judge by the last N to 30 runs, N from 20 to 30 (default 20)", 20, 30},
	{"all", 0, NULL, bb_read_flag, BB_ARG(all),
	 "every run of every case, not the newest alone"},
	{"format", 'f', "NAME", bb_read_index, BB_ARG(is_tsv),
	 "table (default), or tsv for gnuplot", BB_CHOICES(formats)},
	{"results", 0, "DIR", bb_read_text, BB_ARG(results), BB_RESULTS_DOC},
	{0},
};

static const struct bb_usage usage = {
	.arguments = "[SCENARIO]",
	.doc = "Show each variant over all stored runs, and where it changed.",
	.more = "The ratio of a program to the anchor program of the same run (the floor, unless "
		"the scenario names another) is judged against the median of the runs before. A "
		"run beyond max(threshold, prediction interval) is suspect; two in agreement are a "
		"change. Runs on another kernel, CPU, clang or mitigations than the newest run are "
		"shown and not judged. Measures nothing.",
	.example = "  bpfbench history perf_profiler --drive step\n",
	.sets = {{NULL, options, 0}},
	.argument = {.name = "scenario",
		     .read = bb_read_once,
		     .at = BB_ARG_AT(opts.filter.scenario)},
};

static void say_passed_over(void *, const char *why)
{
	bb_tell("passed over: %s", why);
}

static int say_nothing(const struct history_args *a, struct bb_err *err)
{
	struct bb_timeline_opts all = {.rule = bb_history_default_rule};
	struct bb_timeline t = {0};
	const char *scenario = a->opts.filter.scenario, **names, *near;
	int rc = bb_timeline__read(a->results, &all, &t, err);

	if (rc)
		return rc;
	names = bb_calloc(t.n_cases + 1, sizeof(*names));
	for (size_t i = 0; i < t.n_cases; i++)
		names[i] = t.cases[i].of->scenario;
	near = scenario ? bb_nearest(scenario, names, t.n_cases) : NULL;
	if (!t.n_runs)
		bb_fail(err, -ENOENT,
			"%s: no runs are stored there yet; measure one (sudo bpfbench --object "
			"prog.bpf.o), or name another folder (--results DIR)",
			a->results);
	else if (near && strcmp(near, scenario))
		bb_fail(err, -ENOENT,
			"no stored run of the scenario '%s' in %s; did you mean '%s'?", scenario,
			a->results, near);
	else
		bb_fail(err, -ENOENT,
			"none of the %zu runs in %s has such a case; `bpfbench history` without "
			"arguments shows all",
			t.n_runs, a->results);
	free(names);
	bb_timeline__done(&t);
	return -ENOENT;
}

int bb_cmd_history(int argc, char **argv, struct bb_err *err)
{
	static struct history_args a = {.results = BB_RESULTS,
					.opts = {.passed_over = say_passed_over}};
	struct bb_timeline t = {0};
	struct bb_doc d = {0};
	char *words[] = {(char *)(uintptr_t) " --results", NULL, NULL}, *results;

	a.opts.rule = bb_history_default_rule;
	bb_usage__parse(&usage, argc, argv, &a);
	words[1] = (char *)(uintptr_t)a.results;
	results = strcmp(a.results, BB_RESULTS) != 0 ? bb_command_line(words) : bb_strdup("");
	int rc = bb_timeline__read(a.results, &a.opts, &t, err);
	if (!rc && !t.n_cases) {
		rc = say_nothing(&a, err);
	} else if (!rc && a.is_tsv) {
		bb_history_print_tsv(&t, NULL, stdout);
		rc = bb_clean__check(stdout, "stdout", err);
	} else if (!rc) {
		bb_doc_history_news(&t, NULL, &d);
		if (a.all) {
			bb_doc_history_points(&t, &d);
		} else {
			bb_doc_history(&t, NULL, results, &d);
			bb_doc__add(&d, BB_DOC_FAINT, "more",
				    "`bpfbench history --all%s` (every run of every case)",
				    results);
		}
		rc = bb_output_document(&d, stdout, err);
	}
	free(results);
	bb_timeline__done(&t);
	return rc;
}
