/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/diff_view.h"

#include "cli/output.h"

void bb_read_verdict(const struct bb_option *, const char *text, void *ret_verdict)
{
	enum bb_verdict v;

	if (bb_verdict_from_name(text, &v) || v == BB_VERDICT_INCONCLUSIVE)
		bb_usage_error("--fail-on takes regressed, improved or same, not '%s' "
			       "(inconclusive never fails)",
			       text);
	*(enum bb_verdict *)ret_verdict = v;
}

int bb_diff_view__show(const struct bb_diff_view *view, struct bb_diffs *d,
		       struct bb_doc_sides sides, struct bb_err *err)
{
	bool fails = view->fail_on != BB_VERDICT_INCONCLUSIVE && bb_diffs_count(d, view->fail_on);
	struct bb_doc doc = {0};
	int rc = 0;

	for (size_t i = 0; i < d->n_warnings; i++)
		bb_tell("%s", d->warnings[i]);
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
	bb_doc_diff(d, sides, 0, &doc);
	rc = bb_output_document(&doc, stdout, err);
	return rc || !fails ? rc : BB_EXIT_REGRESSION;
}
