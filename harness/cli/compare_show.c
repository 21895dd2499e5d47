/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/output.h"
#include "cli/paths.h"
#include "export/documents.h"
#include "judge/diff.h"
#include "judge/exact_diff.h"
#include "judge/time_diff.h"
#include "run/selftest_store.h"
#include "store/store.h"

int bb_compare_check_resolution(const struct bb_compare_opts *o, const char *results,
				const struct bb_fingerprint *fp, struct bb_err *err)
{
	struct bb_fingerprint own;
	char *id = NULL;
	double floor;
	int rc = fp ? 0 : bb_fingerprint__read("", ".", &own, err);

	if (!rc)
		rc = bb_selftest__read_resolution(results, fp ? fp : &own, &floor, &id, err);
	if (rc == -ENOENT)
		return 0; /* unknown: no self-test has run here */
	if (!rc && o->threshold < floor)
		rc = bb_fail(err, -ERANGE,
			     "a threshold of %.3g %% is below the resolution of this machine, "
			     "%.3g %% by self-test %s; take a larger "
			     "--threshold, or a quieter machine and a new `bpfbench selftest`",
			     100 * o->threshold, 100 * floor, id);
	free(id);
	return rc;
}

/* "base: prog.bpf.o, work": a variant with the program that it was in the run; free() it. */
static char *label_of(const struct bb_report *r, const char *variant)
{
	char *text = NULL;

	for (size_t i = 0; i < r->n_programs; i++)
		if (!strcmp(r->programs[i].variant, variant))
			return asprintf(&text, "%s: %s, %s", variant, r->programs[i].object,
					r->programs[i].program) < 0
				       ? NULL
				       : text;
	return strdup(variant);
}

/* Sort, filter, print; the exit code is by all rows, shown or not. */
static int show(const struct bb_compare_opts *o, struct bb_diffs *d, const char *label_a,
		const char *label_b)
{
	bool fails = o->fail_on != BB_VERDICT_INCONCLUSIVE && bb_diffs_count(d, o->fail_on);
	struct bb_doc doc = {0};
	struct bb_err err = {0};
	int rc = 0;

	for (size_t i = 0; i < d->n_warnings; i++)
		fprintf(stderr, "bpfbench: %s\n", d->warnings[i]);
	if (o->sort)
		rc = bb_diff_sort(d, o->sort, &err);
	for (size_t i = 0; !rc && i < o->filters.n; i++)
		rc = bb_diff_filter(d, o->filters.v[i], &err);
	bb_doc_diff(d, label_a, label_b, 0, &doc);
	if (!rc)
		rc = bb_output_document(&doc, stdout, &err);
	bb_doc__done(&doc);
	if (rc) {
		bb_complain(&err);
		return rc == -EINVAL ? BB_EXIT_USAGE : BB_EXIT_FAILURE;
	}
	return fails ? BB_EXIT_REGRESSION : BB_EXIT_OK;
}

int bb_compare_show_measured(const struct bb_compare_opts *o, const struct bb_report *report,
			     const char *base, const char *head)
{
	char *a = label_of(report, base), *b = label_of(report, head);
	struct bb_diffs d = {0};
	struct bb_err err = {0};
	int exit_code, rc = a && b ? 0 : bb_fail_nomem(&err);

	if (!rc)
		rc = bb_diff_comparisons(report, 0, report->n_comparisons, &d, &err);
	exit_code = rc ? bb_complain(&err) : show(o, &d, a, b);
	bb_diffs__done(&d);
	free(a);
	free(b);
	return exit_code;
}

int bb_compare_show_exact(const struct bb_compare_opts *o, const struct bb_report *a,
			  const struct bb_report *b, const char *base, const char *head)
{
	enum bb_verdict fail_on = o->fail_on == BB_VERDICT_INCONCLUSIVE ? BB_VERDICT_REGRESSED
									: o->fail_on;
	struct bb_exact_diff d = {0};
	struct bb_doc doc = {0};
	struct bb_err err = {0};
	int rc = bb_exact_diff__make(a, b, base, head, &d, &err), exit_code;

	bb_doc_exact_diff(&d, NULL, &doc);
	if (!rc)
		rc = bb_output_document(&doc, stdout, &err);
	bb_doc__done(&doc);
	exit_code = rc                                  ? bb_complain(&err)
		    : bb_exact_diff__count(&d, fail_on) ? BB_EXIT_REGRESSION
							: BB_EXIT_OK;
	bb_exact_diff__done(&d);
	return exit_code;
}

int bb_compare_show_time(const struct bb_compare_opts *o, const struct bb_report *base_run,
			 const struct bb_report *report, const char *base, const char *head)
{
	const struct bb_time_diff_opts opts = {.base = base,
					       .base_run = base_run,
					       .head = head,
					       .threshold = o->threshold,
					       .alpha = o->alpha};
	bool fails = o->fail_on != BB_VERDICT_INCONCLUSIVE;
	struct bb_time_diff d = {0};
	struct bb_doc doc = {0};
	struct bb_err err = {0};
	int rc = bb_time_diff__make(report, &opts, &d, &err), exit_code;

	bb_doc_time_diff(&d, &doc);
	if (!rc)
		rc = bb_output_document(&doc, stdout, &err);
	bb_doc__done(&doc);
	exit_code = rc                                             ? bb_complain(&err)
		    : fails && bb_time_diff__count(&d, o->fail_on) ? BB_EXIT_REGRESSION
								   : BB_EXIT_OK;
	bb_time_diff__done(&d);
	return exit_code;
}

int bb_compare_exit_code(const struct bb_compare_opts *o, const struct bb_report *report)
{
	for (size_t i = 0; i < report->n_comparisons; i++)
		if (o->fail_on != BB_VERDICT_INCONCLUSIVE &&
		    report->comparisons[i].verdict == o->fail_on)
			return BB_EXIT_REGRESSION;
	return BB_EXIT_OK;
}

static int save_baseline(const struct bb_compare_opts *o, const char *results,
			 const struct bb_report *run, struct bb_err *err)
{
	int rc = bb_baseline__save(results, o->save_baseline, run->id, err);

	if (!rc)
		fprintf(stderr, "bpfbench: baseline '%s' is %s\n", o->save_baseline, run->id);
	return rc;
}

/* What the programs of a stored run looked for in vain, below its id. */
static int say_in_vain(const struct bb_report *run, struct bb_err *err)
{
	size_t i = 0;

	while (i < run->n_cases && !run->cases[i].n_in_vain && !run->cases[i].n_unwatched)
		i++;
	if (i == run->n_cases)
		return 0;
	fprintf(stderr, "bpfbench: run %s:\n", run->id);
	return bb_say_in_vain(run, err);
}

int bb_compare_show_stored(const struct bb_compare_opts *o, const char *results,
			   const char *const *runs, size_t n_runs)
{
	struct bb_diff_opts opts = {.threshold = o->threshold,
				    .alpha = o->alpha,
				    .force = o->force};
	const char *old = o->baseline ? o->baseline : n_runs == 2 ? runs[0] : NULL;
	const char *new = n_runs ? runs[n_runs - 1] : "latest";
	struct bb_report *a = NULL, *b = NULL;
	struct bb_diffs d = {0};
	struct bb_err err = {0};
	int rc, exit_code = BB_EXIT_OK;

	if (o->baseline && n_runs == 2)
		rc = bb_fail(&err, -EINVAL, "with --baseline only one run is named: the new one");
	else if (!old && !o->save_baseline)
		rc = bb_fail(&err, -EINVAL, "two runs are needed, OLD NEW, or --baseline");
	else
		rc = bb_baseline__read(new, results, &b, &err);
	if (!rc && old)
		rc = bb_baseline__read(old, results, &a, &err);
	if (!rc && old && !o->exact)
		rc = bb_compare_check_resolution(o, results, &b->fingerprint, &err);
	if (!rc && old && !o->exact)
		rc = bb_diff_reports(a, b, &opts, &d, &err);
	if (!rc && old && !o->exact)
		rc = say_in_vain(a, &err);
	if (!rc && old && !o->exact)
		rc = say_in_vain(b, &err);
	if (!rc && old)
		exit_code = o->exact  ? bb_compare_show_exact(o, a, b, NULL, NULL)
			    : o->time ? bb_compare_show_time(o, a, b, NULL, NULL)
				      : show(o, &d, a->id, b->id);
	if (!rc && o->save_baseline)
		rc = save_baseline(o, results, b, &err);
	if (rc)
		exit_code = bb_complain(&err);
	bb_diffs__done(&d);
	bb_report__free(a);
	bb_report__free(b);
	return exit_code;
}
