/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "cli/measure.h"
#include "cli/paths.h"
#include "run/selftest.h"
#include "stats/special.h"
#include "stats/quantile.h"

static const char *const class_words[BB_N_REPEAT_CLASSES] = {
	[BB_REPEAT_CALM] = "programs that wake nobody",
	[BB_REPEAT_WAKES] = "programs that wake a reader",
	[BB_REPEAT_COLD] = "with emptied caches",
	[BB_REPEAT_EMPTY] = "the empty program",
	[BB_REPEAT_EMPTY_COLD] = "the empty program with emptied caches",
};

/* Prints the mean of `a`, or the difference of the means of `a` and `b`, with its 95 % interval. */
static void print_effect(const char *what, const struct bb_numbers *a, const struct bb_numbers *b)
{
	double mean[2] = {0}, variance = 0, df = INFINITY, half;
	const struct bb_numbers *of[2] = {a, b};

	if (a->n < BB_REPEAT_LEAST || (b && b->n < BB_REPEAT_LEAST))
		return;
	for (int k = 0; k < 2 && of[k]; k++) {
		struct bb_spread spread = bb_spread_of(of[k]->x, of[k]->n);

		for (size_t i = 0; i < of[k]->n; i++)
			mean[k] += of[k]->x[i] / spread.n;
		variance += spread.sd * spread.sd / spread.n;
		df = fmin(df, spread.n - 1);
	}
	half = bb_student_critical(BB_ALPHA, df) * sqrt(variance);
	printf("  %-42s %+7.2f %% +- %.2f%s\n", what, 100 * expm1(mean[0] - mean[1]), 100 * half,
	       fabs(mean[0] - mean[1]) > half ? "  <- an effect" : "");
}

/* Returns the 95th percentile divided by the 5th, or NAN for fewer than BB_REPEAT_LEAST values. */
static double range_of(const struct bb_numbers *f)
{
	double *x = bb_calloc(f->n + 1, sizeof(*x)), range = NAN;

	if (f->n >= BB_REPEAT_LEAST) {
		memcpy(x, f->x, f->n * sizeof(*x));
		bb_sort_doubles(x, f->n);
		range = bb_quantile_sorted(x, f->n, 0.95) / bb_quantile_sorted(x, f->n, 0.05);
	}
	free(x);
	return range;
}

static void print_causes(const struct bb_repeat *r)
{
	double clock = range_of(&r->clock), memory = range_of(&r->memory);
	char thp[128] = "";

	puts("Looked for, over those runs:");
	for (size_t i = 0; i < r->n_rows; i++) {
		const struct bb_repeat_row *row = &r->rows[i];
		char what[100];

		snprintf(what, sizeof(what), "%.40s%s, second half against first", row->program,
			 row->class == BB_REPEAT_COLD ? ", cold" : "");
		print_effect(what, &row->halves, NULL);
		snprintf(what, sizeof(what), "%.40s, among others against alone", row->program);
		print_effect(what, &row->ln[BB_REPEAT_LATENCY], &row->alone);
	}
	if (!isnan(clock))
		printf("  %-42s %7.2f %%\n", "clock: instructions, p95 / p5 of all rounds",
		       100 * (clock - 1));
	bb_sysfile__read("", "/sys/kernel/mm/transparent_hugepage/enabled", thp, sizeof(thp));
	if (!isnan(memory))
		printf("  %-42s %7.2f %%%s%.100s\n", "memory: a chain of loads, p95 / p5 of runs",
		       100 * (memory - 1), *thp ? "; transparent huge pages: " : "", thp);
}

static void print_repeat(const struct bb_repeat *r, const struct bb_between *b)
{
	bool any = false;

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++) {
		const struct bb_pooled_spread *of = b->of[class];

		if (isnan(of[BB_REPEAT_LATENCY].half_width))
			continue;
		printf("%sA plain run repeats within %.2f %% on this machine (%s; relative to the "
		       "reference %.2f %%).\n",
		       any ? "" : "\n", 100 * expm1(of[BB_REPEAT_LATENCY].half_width),
		       class_words[class], 100 * expm1(of[BB_REPEAT_RELATIVE].half_width));
		any = true;
	}
	if (!any)
		return;
	printf("95 %% of such runs are so close to their mean, by %zu self-test%s of this "
	       "machine. Plain runs have it in their intervals from now on.\n",
	       b->n_selftests, bb_plural(b->n_selftests));
	if (r->n_rows)
		print_causes(r);
}

#define DEFAULT_BUDGET_S 50.0

struct selftest_args {
	struct bb_measure_args measure;
	struct bb_selftest_opts opts;
};

static void read_mode(const struct bb_option *, const char *text, void *ret_mode)
{
	int m = 0;

	while (m < BB_N_SELFTEST_MODES &&
	       strcmp(text, bb_selftest_mode_name((enum bb_selftest_mode)m)))
		m++;
	if (m == BB_N_SELFTEST_MODES)
		bb_usage_error("--mode takes same-load, reloads or injected, not '%s'", text);
	*(int *)ret_mode = m;
}

#define ARGS struct selftest_args

static const struct bb_option options[] = {
	{"program", 0, "NAME", bb_read_text, BB_ARG(opts.program),
	 "only this program of the scenario `selftest`: loop, straight or ringbuf"},
	{"mode", 0, "NAME", read_mode, BB_ARG(opts.mode),
	 "only this mode: same-load, reloads or injected"},
	{"experiments", 0, "N", bb_read_u32, BB_ARG(opts.experiments),
	 "number of experiments for each program and mode (default: as many as the budget allows)",
	 1, 100000},
	{"threshold", 0, "PERCENT", bb_read_percent, BB_ARG(opts.threshold),
	 "smallest difference that matters (default 1)"},
	{"inject", 0, "PERCENT", bb_read_percent, BB_ARG(opts.inject),
	 "size of the slowdown that is injected (default 2)"},
	{"each", 0, "SECONDS", bb_read_double, BB_ARG(opts.experiment_budget_s),
	 "budget of each experiment (default 10)", 0.1, 3600},
	{0},
};

static const struct bb_usage usage = {
	.doc = "Find the smallest difference that this machine can judge, by comparing programs "
	       "with themselves.",
	.more = "Counts false verdicts and missed slowdowns, with the bound that the number of "
		"experiments allows, and measures the resolution: `bpfbench compare` refuses a "
		"smaller threshold. Takes less than a minute. Needs root.",
	.example = "  sudo bpfbench selftest\n",
	.sets = {{"What to compare:", options, 0},
		 {"How to measure:", bb_measure_options, BB_ARG_AT(measure)},
		 {"Output:", bb_measure_storing, BB_ARG_AT(measure)}},
};

static double p50(const double *x, uint32_t n)
{
	double *copy = bb_memdup(x, n * sizeof(*copy)), m = bb_median(copy, n);

	free(copy);
	return m;
}

static void print_result(const struct bb_selftest *t, double threshold)
{
	printf("%-10s %-10s %-22s %10s %9s %10s %8s\n", "program", "mode", "verdicts", "estimate",
	       "+-", "covered", "s each");
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct bb_selftest_row *r = &t->rows[i];
		bool power = r->mode == BB_SELFTEST_INJECTED;
		uint32_t regressed = r->verdicts[BB_VERDICT_REGRESSED],
			 k = power ? regressed : regressed + r->verdicts[BB_VERDICT_IMPROVED];
		/* one-sided 95 % bound of the share k / n (Clopper-Pearson): an upper bound for
		 * false verdicts, a lower bound for found regressions */
		double bound = power ? 1 - bb_clopper_pearson_upper(r->n - k, r->n, BB_ALPHA)
				     : bb_clopper_pearson_upper(k, r->n, BB_ALPHA);

		if (!r->n)
			continue;
		printf("%-10s %-10s %4u/%-4u (%s %5.1f %%) %+8.3f %% %7.3f %% %4u/%-4u %8.2f",
		       r->program, bb_selftest_mode_name(r->mode), k, r->n,
		       power ? ">=" : "<=", 100 * bound, 100 * expm1(p50(r->log_ratios.x, r->n)),
		       100 * p50(r->half_widths.x, r->n), r->covered, r->n,
		       r->seconds / (r->n + r->voids));
		if (r->voids)
			printf("  %u void", r->voids);
		putchar('\n');
	}
	printf("\n"
	       "A/A (same-load, reloads): false verdicts at %g %%. injected: slowdowns found. In "
	       "brackets the 95 %% bound.\n"
	       "estimate, +-: medians of the estimates and of the intervals' half widths. "
	       "covered: intervals with the truth in them.\n",
	       100 * threshold);
	if (!isnan(t->resolution))
		printf("\n"
		       "Resolution of this machine: %.3f %% (95th percentile of the |difference| "
		       "between a program and itself).\n"
		       "`bpfbench compare` refuses a threshold below it.\n",
		       100 * t->resolution);
}

int bb_cmd_selftest(int argc, char **argv, struct bb_err *err)
{
	static struct selftest_args a = {.opts = {.mode = -1,
						  .threshold = 0.01,
						  .alpha = BB_ALPHA,
						  .inject = 0.02,
						  .experiment_budget_s = 10}};
	struct bb_scenario *scenario = NULL, *plain = NULL;
	struct bb_selftest t = {0};
	struct bb_between between;
	struct bb_measure m;

	bb_measure_args__init(&a.measure, argv, DEFAULT_BUDGET_S);
	bb_usage__parse(&usage, argc, argv, &a);
	int rc = bb_measure__begin(&a.measure, "selftest", true, &m, err);
	if (rc)
		return rc;
	rc = bb_scenario_find("selftest", false, &scenario, err);
	if (!rc)
		rc = bb_scenario_find("selftest", false, &plain, err);
	if (!rc)
		rc = bb_scenario__add_twins(plain, BB_TWIN_COLD, err);
	if (!rc) {
		a.opts.plain = plain;
		a.opts.run = m.opts;
		rc = bb_selftest__run(scenario, &a.opts, &t, err);
	}
	bb_progress_bar__end(&m.bar);
	if (!rc) {
		print_result(&t, a.opts.threshold);
		if (!bb_selftest__read_between(a.measure.results, &m.report->fingerprint, &t.repeat,
					       &between))
			print_repeat(&t.repeat, &between);
		if (!a.measure.no_store)
			rc = bb_selftest__write(a.measure.results, m.report, &t, &a.opts, err);
	}
	bb_selftest__done(&t);
	bb_scenario__free(scenario);
	bb_scenario__free(plain);
	bb_measure__end(&m);
	return rc;
}
