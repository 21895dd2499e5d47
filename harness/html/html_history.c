/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_history.h"

#include "export/documents.h"
#include "html/html_parts.h"

/* Each picture once: it has all variants of a scenario, drive and value. */
static int put_pictures(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	int rc = 0;

	fputs(BB_HTML_CHARTS, out);
	for (size_t i = 0; !rc && i < r->n_cases; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = bb_same_table(&r->cases[k], &r->cases[i]);
		if (!seen)
			rc = bb_figures__put(out, page->figures,
					     bb_figures__find(page->figures, "history",
							      &r->cases[i]),
					     nth);
	}
	fputs(BB_HTML_CHARTS_END, out);
	return rc;
}

int bb_html_history(FILE *out, const struct bb_html_page *page, size_t nth)
{
	struct bb_doc d = {0};
	int rc;

	if (bb_history_n_runs(page->history, page->report) < 2) {
		fputs("<p>One run is stored: history begins with the second.</p>\n", out);
		return 0;
	}
	rc = put_pictures(out, page, nth);
	bb_doc__add(&d, BB_DOC_FAINT, NULL,
		    "Each case is judged by one of three figures, the one that its runs predict "
		    "best: the ratio to the anchor program of the same run, the latency in pieces "
		    "of the reference, or the latency in ns. Within the limit it is steady; a run "
		    "on another machine than now, or an incomplete one, is not judged. The first "
		    "%zu are learnt from.",
		    bb_history_default_rule.window_min);
	bb_doc_history(page->history, page->report, &d);
	return rc ? rc : bb_html_put(&d, out);
}
