/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "store/store.h"

struct list_args {
	const char *results;
	bool runs_only, scenarios_only;
};

#define AT(member) offsetof(struct list_args, member)
#define TO(member) .at = AT(member)

static const struct bb_option options[] = {
	{"runs", 0, NULL, "print only the ids of the stored runs, one per line", bb_read_flag,
	 TO(runs_only)},
	{"scenarios", 0, NULL, "print only the names of the scenarios, one per line", bb_read_flag,
	 TO(scenarios_only)},
	BB_RESULTS_OPTION(AT(results)),
	{0},
};

static const struct bb_usage usage = {
	.doc = "List the scenarios with their variants and drives, and the stored runs.",
	.example = "  bpfbench list --scenarios\n",
	.sets = {{NULL, options, 0}},
};

static void print_u32s(const char *name, const struct bb_u32_list *l)
{
	printf(" %s", name);
	for (size_t i = 0; i < l->n; i++)
		printf("%c%u", i ? ',' : '=', l->v[i]);
}

static bool is_floor(const struct bb_scenario *s, const struct bb_variant_spec *v)
{
	for (size_t i = 0; i < s->n_drives; i++) {
		const char *floor = s->drives[i].floor;

		if (floor && !strcmp(floor, v->name))
			return true;
	}
	return false;
}

static void print_scenario(const struct bb_scenario *s)
{
	printf("%s  %s\n", s->name, s->description ? s->description : "");
	for (size_t i = 0; i < s->n_drives; i++) {
		const struct bb_drive_spec *d = &s->drives[i];

		printf("    drive %-8s", bb_drive_name(d));
		if (d->kind->param)
			print_u32s(d->kind->param, &d->values);
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

		printf("    %-18s %s%s\n", v->name, v->description ? v->description : "",
		       is_floor(s, v) ? " (floor)" : "");
	}
}

static int list_scenarios(const struct list_args *a, struct bb_err *err)
{
	struct bb_paths paths = {0};
	char **names = NULL;
	size_t n = 0;
	int rc = bb_paths__find(&paths, err), bad = 0;

	if (!rc)
		rc = bb_scenario_names(paths.scenario_dir, &names, &n, err);
	for (size_t i = 0; !rc && i < n; i++) {
		struct bb_scenario *s = NULL;

		if (a->scenarios_only) {
			puts(names[i]);
			continue;
		}
		if (bb_scenario_find(&paths, names[i], &s, err)) {
			/* and go on: one bad file must not hide the others */
			bb_complain(err);
			bad = err->code;
			continue;
		}
		print_scenario(s);
		bb_scenario__free(s);
	}
	bb_names_free(names, n);
	bb_paths__done(&paths);
	return rc ? rc : bad;
}

static int list_runs(const struct list_args *a, struct bb_err *err)
{
	char **ids = NULL;
	size_t n = 0;
	int rc = bb_store__list(a->results, &ids, &n, err);

	if (!rc && !a->runs_only)
		printf("\n%zu stored runs in %s%s\n", n, a->results, n ? "; the newest:" : "");
	for (size_t i = a->runs_only || n < 5 ? 0 : n - 5; !rc && i < n; i++)
		printf("%s%s\n", a->runs_only ? "" : "    ", ids[i]);
	bb_store__list_free(ids, n);
	return rc;
}

int bb_cmd_list(int argc, char **argv)
{
	struct list_args a = {.results = BB_RESULTS};
	struct bb_err err = {0};
	int rc = 0, bad = 0;

	bb_usage__parse(&usage, argc, argv, &a);
	if (!a.runs_only)
		bad = list_scenarios(&a, &err);
	if (!a.scenarios_only)
		rc = list_runs(&a, &err);
	if (rc)
		return bb_complain(&err);
	return bad ? BB_EXIT_FAILURE : BB_EXIT_OK;
}
