/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/asset.h"
#include "base/text.h"
#include "export/executed_notes.h"
#include "export/in_vain_notes.h"
#include "export/sweep_table.h"
#include "export/table_cells.h"
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
	return page->history && bb_html_history_runs(page->report, page->history);
}

/* One run can be compared with nothing. */
static bool is_judged_by_history(const struct bb_html_page *page)
{
	return page->history && bb_html_history_runs(page->report, page->history) > 1;
}

static bool has_verdicts(const struct bb_html_page *page)
{
	return page->report->n_comparisons || is_judged_by_history(page);
}

static void put_comparison(FILE *out, const struct bb_comparison *c)
{
	fputs("<tr>", out);
	bb_html_text_cell(out, c->name);
	fprintf(out, "<td class='text verdict %s'>%s</td>", bb_verdict_name(c->verdict),
		bb_verdict_name(c->verdict));
	bb_html_percent_cell(out, c->ratio.value);
	bb_html_percent_cell(out, c->ratio.lo);
	bb_html_percent_cell(out, c->ratio.hi);
	bb_html_number_cell(out, c->base_ns, c->base_ns);
	bb_html_number_cell(out, c->head_ns, c->base_ns);
	fputs("</tr>\n", out);
}

/* What has to be looked at first; in the order of the report where that is the same. */
static int by_urgency(const void *a, const void *b)
{
	static const int rank[BB_N_VERDICTS] = {
		[BB_VERDICT_REGRESSED] = 0,
		[BB_VERDICT_IMPROVED] = 1,
		[BB_VERDICT_INCONCLUSIVE] = 2,
		[BB_VERDICT_SAME] = 3,
	};
	const struct bb_comparison *x = *(const struct bb_comparison *const *)a,
				   *y = *(const struct bb_comparison *const *)b;

	return rank[x->verdict] != rank[y->verdict] ? rank[x->verdict] - rank[y->verdict]
						    : (x > y) - (x < y);
}

static void put_comparison_rows(FILE *out, const struct bb_comparison *const *rows, size_t n)
{
	bb_html_begin_table(out, "<th>case<th "
				 "class=text>verdict<th>difference<th>from<th>to<th>base, "
				 "ns<th>head, ns");
	for (size_t i = 0; i < n; i++)
		put_comparison(out, rows[i]);
	bb_html_end_table(out);
}

/* Of many the most urgent are shown; the others are folded. */
static int put_comparison_table(FILE *out, const struct bb_report *r)
{
	const struct bb_comparison **rows = calloc(r->n_comparisons, sizeof(*rows));
	const bool many = r->n_comparisons > OPEN_COMPARISONS;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_comparisons; i++)
		rows[i] = &r->comparisons[i];
	if (many) {
		qsort(rows, r->n_comparisons, sizeof(*rows), by_urgency);
		put_comparison_rows(out, rows, OPEN_COMPARISONS);
		fprintf(out, "<details><summary>%zu more</summary>\n",
			r->n_comparisons - OPEN_COMPARISONS);
		put_comparison_rows(out, rows + OPEN_COMPARISONS,
				    r->n_comparisons - OPEN_COMPARISONS);
	} else {
		put_comparison_rows(out, rows, r->n_comparisons);
	}
	free(rows);
	fputs(many ? "</details>\n" : "", out);
	return 0;
}

static int put_comparisons(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	const struct bb_comparison *c = r->comparisons;
	int rc;

	fputs("<h3>", out);
	bb_xml_text(out, c->base);
	fputs(" against ", out);
	bb_xml_text(out, c->head);
	fprintf(out,
		"</h3>\n<p>%zu regressed, %zu improved, %zu same, %zu inconclusive.</p>\n"
		"<p class=faint>Beyond %g %% counts; %g is the chance of a false "
		"verdict.</p>\n",
		bb_report__count_verdict(r, BB_VERDICT_REGRESSED),
		bb_report__count_verdict(r, BB_VERDICT_IMPROVED),
		bb_report__count_verdict(r, BB_VERDICT_SAME),
		bb_report__count_verdict(r, BB_VERDICT_INCONCLUSIVE), 100 * c->threshold, c->alpha);
	rc = put_comparison_table(out, r);
	fputs(BB_HTML_CHARTS, out);
	if (!rc)
		rc = bb_figures__put(out, page->figures,
				     bb_figures__find(page->figures, "ab", NULL), nth);
	fputs(BB_HTML_CHARTS_END, out);
	return rc;
}

static int put_verdicts(FILE *out, const struct bb_html_page *page, size_t nth)
{
	if (is_judged_by_history(page))
		bb_html_history_verdicts(out, page->report, page->history);
	return page->report->n_comparisons ? put_comparisons(out, page, nth) : 0;
}

/* --- cases --- */

static void put_case_row(FILE *out, const struct bb_case *c)
{
	const struct bb_summary *s = &c->summary;
	struct bb_table_cell executed = {""};

	bb_executed_cell(c, &executed);
	fputs("<tr>", out);
	bb_html_text_cell(out, c->variant);
	bb_html_number_cell(out, s->latency.value, s->latency.value);
	bb_html_number_cell(out, s->latency.lo, s->latency.value);
	bb_html_number_cell(out, s->latency.hi, s->latency.value);
	bb_html_number_cell(out, s->p50.value, s->p50.value);
	bb_html_number_cell(out, s->p90.value, s->p90.value);
	bb_html_number_cell(out, s->p99.value, s->p99.value);
	bb_html_number_cell(out, s->net.value, s->latency.value);
	fprintf(out, "<td>%u</td><td>%llu</td>", s->loads, (unsigned long long)s->samples);
	fprintf(out, "<td>%s</td></tr>\n", executed.text);
}

static void put_group_title(FILE *out, const struct bb_case *c, bool with_value)
{
	fputs("<h3>", out);
	bb_xml_text(out, c->scenario);
	fputs(", ", out);
	bb_xml_text(out, c->drive);
	if (c->param) {
		fputs(with_value ? ", " : ", over ", out);
		bb_xml_text(out, c->param);
	}
	if (c->param && with_value) {
		fputs(" = ", out);
		bb_xml_text(out, c->param_text);
	}
	fputs("</h3>\n", out);
}

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

static void put_vain(const char *text, bool is_remedy, FILE *out)
{
	fputs(is_remedy ? "<p class=faint>" : "<p><b>in vain</b>: ", out);
	bb_xml_text(out, text);
	fputs("</p>\n", out);
}

/* All cases of one table: figures, and how the samples are distributed. */
static int put_group(FILE *out, const struct bb_html_page *page, size_t nth, size_t first)
{
	static const char *const kinds[] = {"ecdf", "backlog", NULL};
	const struct bb_report *r = page->report;

	put_group_title(out, &r->cases[first], true);
	bb_html_begin_table(out, "<th>variant<th>latency, "
				 "ns<th>from<th>to<th>p50<th>p90<th>p99<th>net of "
				 "floor<th>loads<th>samples<th>instructions executed");
	for (size_t i = first; i < r->n_cases; i++)
		if (bb_same_table(&r->cases[i], &r->cases[first]))
			put_case_row(out, &r->cases[i]);
	bb_html_end_table(out);
	if (bb_put_in_vain(r, &r->cases[first], put_vain, out))
		return -ENOMEM;
	return put_figures(out, page, nth, kinds, &r->cases[first]);
}

/* Too many values for a table each. */
static int put_sweep(FILE *out, const struct bb_report *r, size_t head)
{
	struct bb_text_table t;
	int rc = bb_sweep__make(r, head, &t);

	if (rc)
		return rc;
	put_group_title(out, &r->cases[head], false);
	rc = bb_html_text_table(out, &t);
	return rc ? rc : bb_put_in_vain(r, &r->cases[head], put_vain, out);
}

/* Is case i the first of its table: one scenario, drive and value, and no sweep? */
static bool is_first_of_table(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (bb_same_table(&r->cases[k], &r->cases[i]))
			return false;
	return !bb_is_sweep(r, i);
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
	static const char *const kinds[] = {"net",      "violin", "depth", "input",
					    "slowdown", "layout", NULL};

	for (size_t i = 0; kinds[i]; i++) {
		if (bb_figures__find(page->figures, kinds[i], c)) {
			put_group_title(out, c, false);
			return put_figures(out, page, nth, kinds, c);
		}
	}
	return 0;
}

static int put_cases(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;
	int rc = 0;

	fputs("<p class=faint>Latency in ns: median over program loads of the mean without "
	      "outliers, with its 95 % interval.</p>\n",
	      out);
	for (size_t i = 0; !rc && i < r->n_cases; i++)
		if (is_first_of_drive(r, i))
			rc = put_overview(out, page, nth, &r->cases[i]);
	for (size_t i = 0; !rc && i < r->n_cases; i++) {
		if (bb_is_sweep(r, i) && bb_is_sweep_head(r, i))
			rc = put_sweep(out, r, i);
		else if (is_first_of_table(r, i))
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
	const struct bb_report *r = page->report;

	(void)nth;
	fputs("<div class=scroll tabindex=0><table><tr><th>variant<th class=text>program<th "
	      "class=text>type",
	      out);
	for (size_t k = 0; k < bb_n_static_metrics; k++) {
		fputs("<th title='", out);
		bb_xml_text(out, bb_static_metrics[k].doc);
		fprintf(out, "'>%s, %s", bb_static_metrics[k].slug, bb_static_metrics[k].unit);
	}
	fputs("</tr>\n", out);
	for (size_t i = 0; i < r->n_programs; i++) {
		const struct bb_program *p = &r->programs[i];

		fputs("<tr>", out);
		bb_html_text_cell(out, p->variant);
		bb_html_text_cell(out, p->program);
		bb_html_text_cell(out, p->type);
		for (size_t k = 0; k < bb_n_static_metrics; k++)
			bb_html_number_cell(out, bb_static_of(&p->metrics, &bb_static_metrics[k]),
					    BB_WHOLE);
		fputs("</tr>\n", out);
	}
	bb_html_end_table(out);
	return 0;
}

static bool has_notes(const struct bb_html_page *page)
{
	const struct bb_report *r = page->report;
	size_t n = r->n_skips;

	for (size_t i = 0; i < r->n_cases; i++)
		n += r->cases[i].summary.voids || bb_is_little_executed(&r->cases[i]) ||
		     *bb_table_cell_below_rate(&r->cases[i]).text;
	return n;
}

static void put_void(FILE *out, const struct bb_case *c)
{
	const char *why = NULL;

	for (size_t k = 0; !why && k < c->n_series; k++)
		why = c->series[k].void_why;
	fputs("<li>void: ", out);
	bb_xml_text(out, c->name);
	fprintf(out, ": %u of %zu series (", c->summary.voids, c->n_series);
	bb_xml_text(out, why);
	fputs(")</li>\n", out);
}

static void put_below_rate(FILE *out, const struct bb_case *c)
{
	struct bb_table_cell text = bb_table_cell_below_rate(c);

	if (!text.text[0])
		return;
	fputs("<li>below the rate: ", out);
	bb_xml_text(out, c->name);
	fprintf(out, ": %s</li>\n", text.text);
}

static void put_little_executed(FILE *out, const struct bb_report *r)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (bb_is_little_executed(&r->cases[i])) {
			fputs("<li>", out);
			bb_put_little_executed(r, bb_xml_text, out);
			fputs("</li>\n", out);
			return;
		}
}

static int put_notes(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;

	(void)nth;
	fputs("<ul>\n", out);
	for (size_t i = 0; i < r->n_skips; i++) {
		fputs("<li>skipped: ", out);
		bb_xml_text(out, r->skips[i].what);
		fputs(": ", out);
		bb_xml_text(out, r->skips[i].why);
		fputs("</li>\n", out);
	}
	for (size_t i = 0; i < r->n_cases; i++) {
		if (r->cases[i].summary.voids)
			put_void(out, &r->cases[i]);
		put_below_rate(out, &r->cases[i]);
	}
	put_little_executed(out, r);
	fputs("</ul>\n", out);
	return 0;
}

static int put_machine(FILE *out, const struct bb_html_page *page, size_t nth)
{
	const struct bb_report *r = page->report;

	(void)nth;
	fputs("<div class=scroll tabindex=0><table class=pairs>\n", out);
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
	bb_html_end_table(out);
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
