/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/io.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "store/store.h"

struct list_args {
	const char *results;
	bool runs_only, scenarios_only, details;
};

#define NEWEST 5u /* stored runs that are listed without --runs */

#define ARGS struct list_args

static const struct bb_option options[] = {
	{"runs", 0, NULL, bb_read_flag, BB_ARG(runs_only),
	 "print only the ids of the stored runs, one per line"},
	{"scenarios", 0, NULL, bb_read_flag, BB_ARG(scenarios_only),
	 "print only the names of the scenarios, one per line"},
	{"details", 0, NULL, bb_read_flag, BB_ARG(details),
	 "print the programs and drives of each scenario"},
	{"results", 0, "DIR", bb_read_text, BB_ARG(results), BB_RESULTS_DOC},
	{0},
};

static const struct bb_usage usage = {
	.doc = "List the scenarios, and the newest stored runs.",
	.example = "  bpfbench list --scenarios\n",
	.sets = {{NULL, options, 0}},
};

static void print_line(const char *name, int width, const char *description, const char *mark)
{
	bool is_described = description && description[0];

	printf("%-*s%s%s%s%s\n", is_described || mark[0] ? width : 0, name,
	       is_described ? "  " : "", is_described ? description : "", mark[0] ? " " : "", mark);
}

static void print_scenario(const struct bb_scenario *s)
{
	print_line(s->name, 0, s->description, "");
	for (size_t i = 0; i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];
		bool has_more = d->kind->param || d->call.function || d->target.workload ||
				d->n_variants;

		printf("    drive %-*s", has_more ? 8 : 0, bb_drive_name(d));
		if (d->kind->param)
			printf(" %s", d->kind->param);
		for (size_t j = 0; d->kind->param && j < d->values.n; j++)
			printf("%c%u", j ? ',' : '=', d->values.v[j]);
		if (d->call.function)
			printf(" of %s", d->call.function);
		if (d->target.workload)
			printf(" over %s", d->target.workload);
		for (size_t j = 0; j < d->n_variants; j++)
			printf("%s%s", j ? ", " : " of ", d->variants[j]);
		putchar('\n');
	}
	for (size_t i = 0; i < s->n_variants; i++) {
		const struct bb_variant_spec *v = &s->variants[i];
		bool is_floor = BB_ANY(s->drives, s->n_drives,
				       it->floor && !strcmp(it->floor, v->name));

		printf("    ");
		print_line(v->name, 17, v->description, is_floor ? "(floor)" : "");
	}
}

static int list_scenarios(const struct list_args *a, size_t *ret_n, struct bb_err *err)
{
	struct bb_doc d = {0};
	char **names = NULL;
	size_t n = 0;
	int rc = bb_scenario_names(&names, &n, err), printed;

	bb_doc__columns(&d, {BB_TEXT("Scenario")}, {BB_NUMBER("Programs")},
			{BB_TEXT("What it is")});
	for (size_t i = 0; i < n; i++) {
		struct bb_scenario *s = NULL;

		if (a->scenarios_only) {
			puts(names[i]);
		} else if (bb_scenario_find(names[i], true, &s, err)) {
			/* goes on with the other scenarios, which a faulty file must not hide */
			bb_complain(err);
			rc = BB_EXIT_FAILURE;
		} else {
			if (a->details) {
				print_scenario(s);
			} else {
				bb_doc__text_cell(&d, s->name);
				bb_doc__cell(&d, "%zu", s->n_variants);
				bb_doc__text_cell(&d, s->description);
			}
			bb_scenario__free(s);
		}
	}
	bb_names_free(names, n);
	*ret_n = n;
	printed = bb_output_document(&d, stdout, err);
	return printed ? printed : rc;
}

int bb_cmd_list(int argc, char **argv, struct bb_err *err)
{
	struct list_args a = {.results = BB_RESULTS};
	int rc = 0, bad = 0;
	struct bb_doc next = {0};
	char **ids = NULL;
	size_t n = 0, n_scenarios = 0;

	bb_usage__parse(&usage, argc, argv, &a);
	if (!a.runs_only)
		bad = list_scenarios(&a, &n_scenarios, err);
	if (bad < 0)
		bad = bb_complain(err);
	if (a.scenarios_only)
		return bad;
	rc = bb_store__list(a.results, &ids, &n, err);
	if (!rc && !a.runs_only && n > NEWEST)
		printf("\nlatest %u of %zu stored runs in %s (--runs lists all):\n", NEWEST, n,
		       a.results);
	else if (!rc && !a.runs_only)
		printf("\n%zu stored run%s in %s%s\n", n, bb_plural(n), a.results,
		       n ? ", newest first:" : "");
	for (size_t i = 0; !rc && i < n && (a.runs_only || i < NEWEST); i++)
		printf("%s%s\n", a.runs_only ? "" : "    ", ids[a.runs_only ? i : n - 1 - i]);
	bb_names_free(ids, n);
	if (!rc && n_scenarios) {
		bb_doc__add(&next, BB_DOC_CLOSING, "next", "`sudo bpfbench --scenario NAME`%s",
			    a.details ? ""
				      : "; its programs and drives: `bpfbench list --details`");
		putchar('\n');
		rc = bb_output_document(&next, stdout, err);
	}
	return rc ? rc : bad;
}
