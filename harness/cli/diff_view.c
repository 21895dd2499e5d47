/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/diff_view.h"

#include "base/text.h"
#include "plan/plan.h"

struct bb_time_diff_opts bb_compared__lines(const struct bb_compared *c)
{
	bool looks_twice = !c->of.base_run && !(c->loads > 0) && c->budget_s > 0;
	struct bb_time_diff_opts opts = c->of;

	if (looks_twice)
		opts.alpha /= 2;
	if (!opts.base_run)
		opts.option = looks_twice ? "--budget" : "--loads";
	opts.amount = looks_twice ? c->budget_s : c->loads > 0 ? c->loads : BB_LINES_LOADS;
	return opts;
}

void bb_doc_in_vain_of_runs(const struct bb_report *old, const struct bb_report *new,
			    struct bb_doc *d)
{
	const struct bb_report *const runs[2] = {old, new};
	struct bb_doc docs[2] = {0};
	size_t n_same = 0;

	for (int i = 0; i < 2; i++)
		bb_doc_in_vain(runs[i], NULL, &docs[i]);
	while (n_same < docs[0].n && n_same < docs[1].n &&
	       bb_same_text(docs[0].blocks[n_same].text, docs[1].blocks[n_same].text))
		n_same++;
	bool is_same = n_same == docs[0].n && n_same == docs[1].n;
	/* If both documents end with the same advice, add it once, below the second run. */
	if (!is_same && docs[0].n && docs[1].n &&
	    docs[0].blocks[docs[0].n - 1].kind == BB_DOC_SUBITEM &&
	    bb_same_text(docs[0].blocks[docs[0].n - 1].text, docs[1].blocks[docs[1].n - 1].text))
		bb_doc__cut(&docs[0], docs[0].n - 1);
	for (int i = is_same; i < 2; i++) {
		if (docs[i].n)
			bb_doc__add(d, BB_DOC_PARAGRAPH, NULL,
				    "%s%s:", is_same ? "both runs" : "run ",
				    is_same ? "" : runs[i]->id);
		for (size_t k = 0; k < docs[i].n; k++)
			bb_doc__add(d, docs[i].blocks[k].kind, docs[i].blocks[k].label, "%s",
				    docs[i].blocks[k].text);
	}
	for (int i = 0; i < 2; i++)
		bb_doc__done(&docs[i]);
}

static void add_warnings(const struct bb_diffs *d, struct bb_doc *doc)
{
	for (size_t i = 0; i < d->n_warnings; i++)
		bb_doc__add(doc, BB_DOC_PARAGRAPH, "note", "%s", d->warnings[i]);
}

static int add_time(const struct bb_compared *c, struct bb_doc_sides sides, enum bb_verdict counted,
		    size_t *ret_n, struct bb_doc *d, struct bb_err *err)
{
	const struct bb_time_diff_opts opts = bb_compared__lines(c);
	struct bb_time_diff diff = {0};
	int rc = bb_time_diff__make(c->run, &opts, &diff, err);
	char *results;

	if (rc)
		return rc;
	results = bb_command_option(c->run->command, "--results");
	bb_doc_time_diff(&diff, sides, c->details, d);
	if (opts.whole)
		add_warnings(opts.whole, d);
	if (opts.base_run)
		bb_doc_in_vain_of_runs(opts.base_run, c->run, d);
	if (!c->details)
		bb_doc__add(d, BB_DOC_FAINT, "more",
			    opts.base_run ? "the same with `--details` (every line)"
					  : "`bpfbench annotate --time%s` (every line), `bpfbench "
					    "show --details%s` (all figures)",
			    results, results);
	free(results);
	bb_doc_time_diff_next(&diff, opts.base_run ? NULL : c->run->command, d);
	*ret_n = bb_time_diff__count(&diff, counted);
	bb_time_diff__done(&diff);
	return 0;
}

int bb_compared__add(const struct bb_compared *c, struct bb_doc_sides sides,
		     enum bb_verdict counted, size_t *ret_n, struct bb_doc *d, struct bb_err *err)
{
	struct bb_exact_diff diff = {0};

	*ret_n = 0;
	if (!c->is_exact)
		return add_time(c, sides, counted, ret_n, d, err);
	int rc = bb_exact_diff__make(c->of.base_run ? c->of.base_run : c->run, c->run, c->of.base,
				     c->of.head, &diff, err);
	if (rc)
		return rc;
	bb_doc_exact_diff(&diff, sides, c->details, NULL, d);
	*ret_n = bb_exact_diff__count(&diff, counted);
	bb_exact_diff__done(&diff);
	return 0;
}

void bb_read_verdict(const struct bb_option *, const char *text, void *ret_verdict)
{
	enum bb_verdict v;

	if (bb_verdict_from_name(text, &v) || v == BB_VERDICT_INCONCLUSIVE)
		bb_usage_error("--fail-on takes regressed, improved or same, not '%s' "
			       "(inconclusive never fails)",
			       text);
	*(enum bb_verdict *)ret_verdict = v;
}

int bb_diff_view__add(const struct bb_diff_view *view, struct bb_diffs *d,
		      struct bb_doc_sides sides, struct bb_doc *doc, struct bb_err *err)
{
	bool fails = view->fail_on != BB_VERDICT_INCONCLUSIVE && bb_diffs_count(d, view->fail_on);
	int rc = 0;

	if (view->sort)
		rc = bb_diff_sort(d, view->sort, err);
	for (size_t i = 0; !rc && i < view->filters.n; i++)
		rc = bb_diff_filter(d, view->filters.v[i], err);
	/* Leave out percentiles if other rows have verdicts, because percentiles have none. */
	if (!view->details && !view->sort && !view->filters.n &&
	    BB_ANY(d->rows, d->n, it->has_verdict))
		rc = bb_diff_filter(d, "metric!~p[0-9]*", err);
	if (rc)
		return rc;
	if (!view->details && !view->sort && !view->filters.n)
		bb_diff_drop_nets(d);
	bb_doc_diff(d, sides, 0, doc);
	if (!sides.r) {
		if (BB_ANY(d->rows, d->n, !strcmp(it->metric, "net")))
			bb_doc__add(doc, BB_DOC_FAINT, "net",
				    "what a program adds to an empty one of its type");
		if (BB_ANY(d->rows, d->n, isfinite(it->lo)))
			bb_doc__add(doc, BB_DOC_FAINT, "Interval",
				    "%g %% interval, by the loads of both runs",
				    100 * (1 - d->alpha));
		add_warnings(d, doc);
	}
	return fails ? BB_EXIT_REGRESSION : 0;
}
