/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/sweep_table.h"
#include "html/html_parts.h"
#include "judge/timeline.h"

#define COMMIT_DIGITS 10
#define OPEN_ITEMS 12u /* rows, and lines of news; the rest is folded */

static bool is_of(const struct bb_report *r, const struct bb_timeline_case *c)
{
	return bb_report__find_case(r, c->name) != NULL;
}

size_t bb_html_history_runs(const struct bb_report *r, const struct bb_timeline *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_cases; i++)
		if (t->cases[i].n_points > n && is_of(r, &t->cases[i]))
			n = t->cases[i].n_points;
	return n;
}

/* --- lists of which the end is folded --- */

/* Before item number `nth` from 0. */
static void begin_item(FILE *out, size_t nth, const char *begin, const char *end)
{
	if (nth == OPEN_ITEMS)
		fprintf(out, "%s<details><summary>More</summary>\n", end);
	if (nth == 0 || nth == OPEN_ITEMS)
		fputs(begin, out);
}

static void end_items(FILE *out, size_t n, const char *end)
{
	if (n)
		fprintf(out, "%s%s", end, n > OPEN_ITEMS ? "</details>\n" : "");
}

/* --- in words --- */

static void put_run(FILE *out, const struct bb_timeline_run *run)
{
	bb_xml_text(out, run->started ? run->started : run->id);
	if (run->commit[0]) {
		fputs(", commit ", out);
		bb_xml_text_cut(out, run->commit, COMMIT_DIGITS);
	}
}

static void put_mark(FILE *out, const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	const char *name = bb_history_mark_name(bb_timeline__mark(t, c));

	if (bb_timeline__newest(t, c))
		fprintf(out, "<span class='verdict %s'>%s</span>", name, name);
	else
		fputs("not judged", out);
}

/* "regressed, +5.01 % in the newest run, since 2026-01-26T12:00:00Z, commit 1a2b3c4d5e" */
static void put_verdict(FILE *out, const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	enum bb_history_mark mark = bb_timeline__mark(t, c);
	const struct bb_timeline_point *newest = bb_timeline__newest(t, c),
				       *since = bb_timeline__since(c);

	put_mark(out, t, c);
	if (!bb_history_is_news(mark))
		return;
	fprintf(out, ", %+.2f %% in the newest run", 100 * bb_timeline__change(c, newest));
	if (mark == BB_HISTORY_SUSPECT) {
		fputs("; one run proves nothing: run again", out);
	} else if (since) {
		fputs(", since ", out);
		put_run(out, &t->runs[since->run]);
	}
}

void bb_html_history_verdicts(FILE *out, const struct bb_report *r, const struct bb_timeline *t)
{
	size_t n[BB_HISTORY_IMPROVED + 1] = {0}, n_news = 0;

	for (size_t i = 0; i < t->n_cases; i++)
		if (is_of(r, &t->cases[i]))
			n[bb_timeline__mark(t, &t->cases[i])]++;
	fprintf(out,
		"<p>Over %zu stored runs: %zu regressed, %zu improved, %zu suspect, %zu steady, "
		"%zu learning.</p>\n",
		bb_html_history_runs(r, t), n[BB_HISTORY_REGRESSED], n[BB_HISTORY_IMPROVED],
		n[BB_HISTORY_SUSPECT], n[BB_HISTORY_STEADY], n[BB_HISTORY_LEARNING]);
	for (size_t i = 0; i < t->n_cases; i++) {
		if (!is_of(r, &t->cases[i]) ||
		    !bb_history_is_news(bb_timeline__mark(t, &t->cases[i])))
			continue;
		begin_item(out, n_news++, "<ul>\n", "</ul>\n");
		fputs("<li><b>", out);
		bb_xml_text(out, t->cases[i].name);
		fputs("</b>: ", out);
		put_verdict(out, t, &t->cases[i]);
		fputs("</li>\n", out);
	}
	end_items(out, n_news, "</ul>\n");
}

/* --- pictures and rows --- */

/* What comes first: news, then what is no part of a sweep. */
enum rank { NEWS, SINGLE, SWEPT, NO_ROW };

static enum rank rank_of(const struct bb_report *r, const struct bb_timeline *t,
			 const struct bb_timeline_case *c)
{
	const struct bb_case *of = bb_report__find_case(r, c->name);

	if (!of || c->n_points < 2)
		return NO_ROW;
	if (bb_history_is_news(bb_timeline__mark(t, c)))
		return NEWS;
	return bb_is_sweep(r, (size_t)(of - r->cases)) ? SWEPT : SINGLE;
}

static void put_row(FILE *out, const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	const struct bb_timeline_point *p = bb_timeline__newest(t, c);
	double value = p ? bb_timeline__judged(c, p)->value : (double)NAN;

	fputs("<tr>", out);
	bb_html_text_cell(out, c->name);
	fputs("<td class=text>", out);
	put_mark(out, t, c);
	fputs("</td>", out);
	if (c->by != BB_BY_LATENCY && isfinite(value))
		fprintf(out, "<td>%.4f × %s</td>", value,
			c->by == BB_BY_RATIO ? "anchor" : "reference");
	else
		bb_html_number_cell(out, value, value);
	bb_html_percent_cell(out, p ? 1 + bb_timeline__change(c, p) : (double)NAN);
	bb_html_percent_cell(out, p ? exp(p->judged.limit) : (double)NAN);
	fprintf(out, "<td>%zu</td></tr>\n", c->n_points);
}

static void put_rows(FILE *out, const struct bb_report *r, const struct bb_timeline *t)
{
	static const char heads[] = "<th>case<th class=text>newest run<th>judged, ns or "
				    "ratio<th>change<th>limit<th>runs";
	size_t n = 0;

	for (enum rank rank = NEWS; rank < NO_ROW; rank++) {
		for (size_t i = 0; i < t->n_cases; i++) {
			if (rank_of(r, t, &t->cases[i]) != rank || n++ >= BB_HTML_HISTORY_ROWS)
				continue;
			if (n - 1 == OPEN_ITEMS) {
				bb_html_end_table(out);
				fputs("<details><summary>More</summary>\n", out);
			}
			if (n == 1 || n - 1 == OPEN_ITEMS)
				bb_html_begin_table(out, heads);
			put_row(out, t, &t->cases[i]);
		}
	}
	if (n)
		bb_html_end_table(out);
	fputs(n > OPEN_ITEMS ? "</details>\n" : "", out);
	if (n > BB_HTML_HISTORY_ROWS)
		fprintf(out,
			"<p>%zu more cases are not here; <code>bpfbench history</code> lists "
			"all.</p>\n",
			n - BB_HTML_HISTORY_ROWS);
}

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
	int rc;

	if (bb_html_history_runs(page->report, page->history) < 2) {
		fputs("<p>One run is stored: history begins with the second.</p>\n", out);
		return 0;
	}
	fprintf(out,
		"<p class=faint>Each case is judged by one of three figures, the one that its runs "
		"predict best: the ratio to the anchor program of the same run, the latency in "
		"pieces of the reference, or the latency in ns. Within the limit it is steady; a "
		"run on another "
		"machine than now, or an incomplete one, is not judged. The first %zu are learnt "
		"from.</p>\n",
		bb_history_default_rule.window_min);
	rc = put_pictures(out, page, nth);
	if (!rc)
		put_rows(out, page->report, page->history);
	return rc;
}
