/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/asset.h"
#include "base/text.h"
#include "export/documents.h"
#include "html/figures.h"
#include "html/html_history.h"
#include "html/html_parts.h"
#include "html/html_lines.h"
#include "html/html_source.h"

BB_ASSET(page_html, "harness/html/page.html");
BB_ASSET(page_css, "harness/html/page.css");

#define OPEN_COMPARISONS 16u /* more are folded */

/* --- verdicts --- */

static bool has_history(const struct bb_html_page *page)
{
	return page->history && bb_history_n_runs(page->history, page->report);
}

/* One run can be compared with nothing. */
static bool is_judged_by_history(const struct bb_html_page *page)
{
	return page->history && bb_history_n_runs(page->history, page->report) > 1;
}

static bool has_verdicts(const struct bb_html_page *page)
{
	return page->report->n_comparisons || is_judged_by_history(page);
}

static int put_verdicts(FILE *out, const struct bb_html_page *page, size_t nth)
{
	struct bb_doc d = {0};
	int rc;

	if (is_judged_by_history(page))
		bb_doc_history_news(page->history, page->report, &d);
	bb_doc_comparisons(page->report, OPEN_COMPARISONS, &d);
	rc = bb_html_put(&d, out);
	if (rc || !page->report->n_comparisons)
		return rc;
	fputs(BB_HTML_CHARTS, out);
	rc = bb_figures__put(out, page->figures, bb_figures__find(page->figures, "ab", NULL), nth);
	fputs(BB_HTML_CHARTS_END, out);
	return rc;
}

/* --- cases --- */

/* Pictures of one case's scenario, drive and parameter, those of `kinds` (ends in NULL). */
static int put_figures(FILE *out, const struct bb_html_page *page, size_t nth,
		       const char *const *kinds, const struct bb_case *c)
{
	int rc = 0;

	fputs(BB_HTML_CHARTS, out);
	for (; !rc && *kinds; kinds++)
		rc = bb_figures__put(out, page->figures, bb_figures__find(page->figures, *kinds, c),
				     nth);
	fputs(BB_HTML_CHARTS_END, out);
	return rc;
}

/* All cases of one table: how the samples are distributed, and the figures. */
static int put_group(FILE *out, const struct bb_html_page *page, size_t nth, size_t first)
{
	static const char *const kinds[] = {"ecdf", "backlog", NULL};
	struct bb_doc d = {0};
	int rc;

	bb_doc_table(page->report, first, BB_DETAILS, &d);
	rc = bb_html_put(&d, out);
	return rc ? rc : put_figures(out, page, nth, kinds, &page->report->cases[first]);
}

/* Too many values for a table each. */
static int put_sweep(FILE *out, const struct bb_report *r, size_t head)
{
	struct bb_doc d = {0};

	bb_doc_sweep(r, head, &d);
	bb_doc_in_vain(r, &r->cases[head], &d);
	return bb_html_put(&d, out);
}

/* Is it the first of its scenario, drive and parameter? */
static bool is_first_of_drive(const struct bb_report *r, size_t i)
{
	const struct bb_case *c = &r->cases[i];

	for (size_t k = 0; k < i; k++)
		if (!strcmp(r->cases[k].scenario, c->scenario) &&
		    !strcmp(r->cases[k].drive, c->drive) &&
		    bb_same_text(r->cases[k].param, c->param))
			return false;
	return true;
}

/* All cases of one scenario, drive and parameter in one picture of each kind. */
static int put_overview(FILE *out, const struct bb_html_page *page, size_t nth,
			const struct bb_case *c)
{
	static const char *const kinds[] = {"net",      "quantiles", "depth", "input",
					    "slowdown", "layout",    NULL};
	struct bb_doc d = {0};
	int rc;

	for (size_t i = 0; kinds[i]; i++) {
		if (bb_figures__find(page->figures, kinds[i], c)) {
			bb_doc_group_title(c, false, "", &d);
			rc = bb_html_put(&d, out);
			return rc ? rc : put_figures(out, page, nth, kinds, c);
		}
	}
	return 0;
}

static int put_cases(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	int rc = 0;

	fputs("<p class=faint>Latency in ns: mean over the places of the code that the loads were "
	      "drawn from, or median over loads where these are not known, of the mean without "
	      "outliers, with its 95 % interval.</p>\n",
	      out);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		if (is_first_of_drive(r, i))
			rc = put_overview(out, page, nth, &r->cases[i]);
	for (size_t i = 0; !rc && i < r->n_cases; i++) {
		if (bb_is_sweep(r, i) && bb_is_sweep_head(r, i))
			rc = put_sweep(out, r, i);
		else if (bb_is_first_of_table(r, i))
			rc = put_group(out, page, nth, i);
	}
	if (!r->n_cases)
		fputs("<p>Nothing was timed.</p>\n", out);
	return rc;
}

/* --- the rest --- */

static bool has_source(const struct bb_html_page *page)
{
	return page->report->n_counted;
}

static int put_source(FILE *out, const struct bb_html_page *page, size_t nth)
{
	return bb_html_source(out, page->report, nth);
}

static int put_history(FILE *out, const struct bb_html_page *page, size_t nth)
{
	return bb_html_history(out, page, nth);
}

static bool has_lines(const struct bb_html_page *page)
{
	return page->report->n_timed;
}

static int put_lines(FILE *out, const struct bb_html_page *page, size_t nth)
{
	(void)nth;
	return bb_html_lines(out, page->report, page->line_flames);
}

static bool has_flame(const struct bb_html_page *page)
{
	return page->flame;
}

static int put_flame(FILE *out, const struct bb_html_page *page, size_t nth)
{
	(void)nth;
	fputs(page->flame, out);
	return 0;
}

static bool has_programs(const struct bb_html_page *page)
{
	return page->report->n_programs;
}

static int put_programs(FILE *out, const struct bb_html_page *page, size_t nth)
{
	struct bb_doc d = {0};

	(void)nth;
	bb_doc_programs(page->report, &d);
	return bb_html_put(&d, out);
}

static bool has_notes(const struct bb_html_page *page)
{
	struct bb_doc d = {0};
	size_t n = bb_doc_notes(page->report, BB_SHORT, &d);

	bb_doc__done(&d);
	return n;
}

static int put_notes(FILE *out, const struct bb_html_page *page, size_t nth)
{
	struct bb_doc d = {0};

	(void)nth;
	bb_doc_notes(page->report, BB_SHORT, &d);
	return bb_html_put(&d, out);
}

static int put_machine(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;

	(void)nth;
	fputs(BB_HTML_BEGIN_TABLE " class=pairs>\n", out);
	for (size_t i = 0; i < bb_n_fingerprint_fields; i++) {
		fputs("<tr><th title='", out);
		bb_xml_text(out, bb_fingerprint_fields[i].doc);
		fputs("'>", out);
		bb_xml_text(out, bb_fingerprint_fields[i].key);
		fputs("</th><td class=text>", out);
		bb_xml_text(out, bb_fingerprint_get(&r->fingerprint, i));
		fputs("</td></tr>\n", out);
	}
	fputs("<tr><th>command</th><td class=text>", out);
	bb_xml_text(out, r->command);
	fprintf(out, "</td></tr>\n<tr><th>seed</th><td class=text>0x%llx</td></tr>\n",
		(unsigned long long)r->seed);
	fputs(BB_HTML_END_TABLE, out);
	return 0;
}

/* --- the page --- */

static const struct section {
	const char *slug, *title;
	bool (*is_there)(const struct bb_html_page *page); /* NULL: always */
	int (*put)(FILE *out, const struct bb_html_page *page, size_t nth);
} sections[] = {
	{"verdicts", "Verdicts", has_verdicts, put_verdicts},
	{"cost", "Cost of a run", NULL, put_cases},
	{"lines", "Time by line", has_lines, put_lines},
	{"source", "Instructions and source", has_source, put_source},
	{"history", "History", has_history, put_history},
	{"flame", "Flame graph", has_flame, put_flame},
	{"programs", "Programs", has_programs, put_programs},
	{"notes", "Notes", has_notes, put_notes},
	{"machine", "Machine", NULL, put_machine},
};

#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static void put_what(FILE *out, const struct bb_html_page *page)
{
	const struct bb_report *r = page->report;

	fputs("<h1>", out);
	bb_xml_text(out, r->id);
	fputs("</h1>\n<p class=faint>", out);
	bb_xml_text(out, r->started ? r->started : "time unknown");
	fputs(" · kernel ", out);
	bb_xml_text(out, r->fingerprint.kernel_release);
	fputs(" · ", out);
	bb_xml_text(out, r->fingerprint.cpu_model);
	if (isfinite(r->elapsed_s))
		fprintf(out, " · took %.1f s", r->elapsed_s);
	if (isfinite(r->steal))
		fprintf(out, " · %.0f %% steal", 100 * r->steal);
	fputs("</p>\n", out);
	if (r->incomplete) {
		fputs("<p class=bad><b>Incomplete:</b> ", out);
		bb_xml_text(out, r->incomplete);
		fputs("; the page shows the samples taken until then.</p>\n", out);
	}
	if (!page->figures || !page->figures->n) {
		fputs("<p class=faint>No pictures: ", out);
		bb_xml_text(out, page->figures && page->figures->why ? page->figures->why
								     : "bpfbench report draws "
								       "them, with gnuplot");
		fputs(".</p>\n", out);
	}
}

/* Sections of the first run are #history, those of the second #history-2. */
static void put_anchor(FILE *out, const struct section *s, size_t nth)
{
	if (nth)
		fprintf(out, "%s-%zu", s->slug, nth + 1);
	else
		fputs(s->slug, out);
}

static int put_run(FILE *out, const struct bb_html_page *page, size_t nth)
{
	bool shown[N_SECTIONS];
	int rc = 0;

	fputs("<article>\n", out);
	put_what(out, page);
	fputs("<nav>", out);
	for (size_t i = 0; i < N_SECTIONS; i++) {
		shown[i] = !sections[i].is_there || sections[i].is_there(page);
		if (!shown[i])
			continue;
		fputs("<a href='#", out);
		put_anchor(out, &sections[i], nth);
		fprintf(out, "'>%s</a>\n", sections[i].title);
	}
	fputs("</nav>\n", out);
	for (size_t i = 0; !rc && i < N_SECTIONS; i++) {
		if (!shown[i])
			continue;
		fputs("<section id=", out);
		put_anchor(out, &sections[i], nth);
		fprintf(out, ">\n<h2>%s</h2>\n", sections[i].title);
		rc = sections[i].put(out, page, nth);
		fputs("</section>\n", out);
	}
	fputs("</article>\n", out);
	return rc;
}

/* --- page.html: what stands for @NAME@ in it --- */

struct pages {
	const struct bb_html_page *v;
	size_t n;
};

static int put_title(FILE *out, const struct pages *p)
{
	for (size_t i = 0; i < p->n; i++) {
		fputs(i ? ", " : "", out);
		bb_xml_text(out, p->v[i].report->id);
	}
	return 0;
}

static int put_style(FILE *out, const struct pages *p)
{
	(void)p;
	fputs(page_css, out);
	return 0;
}

static int put_runs(FILE *out, const struct pages *p)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->n; i++)
		rc = put_run(out, &p->v[i], i);
	return rc;
}

static const struct {
	const char *name;
	int (*put)(FILE *out, const struct pages *p);
} blanks[] = {
	{"@TITLE@", put_title},
	{"@STYLE@", put_style},
	{"@RUNS@", put_runs},
};

int bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out)
{
	const struct pages p = {pages, n};
	const char *at = page_html;
	int rc = 0;

	for (size_t i = 0; !rc && i < sizeof(blanks) / sizeof(blanks[0]); i++) {
		const char *blank = strstr(at, blanks[i].name);

		fwrite(at, 1, (size_t)(blank - at), out);
		rc = blanks[i].put(out, &p);
		at = blank + strlen(blanks[i].name);
	}
	fputs(at, out);
	return rc;
}
