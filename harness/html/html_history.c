/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_history.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/sweep_table.h"
#include "html/chart.h"
#include "html/html_parts.h"
#include "judge/timeline_marks.h"

#define COMMIT_DIGITS 10
#define TITLED_POINTS 64u /* as many as the chart shows one by one */
#define MAX_MARKS 12u     /* changes of level that a chart has, the newest */
#define OPEN_ITEMS 12u    /* charts, and lines of news; the rest is folded */

enum { SLOWER = 1, FASTER = 2, THIS_RUN = 3, NOT_JUDGED = 7 }; /* colours */

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

/* "regressed, +5.01 % in the newest run, since 2026-01-26T12:00:00Z, commit 1a2b3c4d5e" */
static void put_verdict(FILE *out, const struct bb_timeline *t, const struct bb_timeline_case *c)
{
	enum bb_history_mark mark = bb_timeline__mark(t, c);
	const struct bb_timeline_point *newest = bb_timeline__newest(t, c),
				       *since = bb_timeline__since(c);

	if (!newest) {
		fputs("not judged", out);
		return;
	}
	fprintf(out, "<span class='verdict %s'>%s</span>", bb_history_mark_name(mark),
		bb_history_mark_name(mark));
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

/* --- charts --- */

/* The points of one case, as columns: column k is at v + k * n_points. */
struct plotted {
	double *v, *run, *value, *lo, *hi, *other, *band_lo, *band_hi;
	char **titles; /* NULL: too many points for that */
	size_t n;
	bool any_other;  /* points that are not judged */
	size_t this_run; /* the point of the run that the page is about; n: there is none */
	struct bb_chart_mark marks[MAX_MARKS];
	size_t n_marks;
	struct bb_chart_axis x, y;
};

static void plotted_done(struct plotted *p)
{
	for (size_t i = 0; p->titles && i < p->n; i++)
		free(p->titles[i]);
	free(p->titles);
	free(p->v);
}

static char *title_of(const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct bb_timeline_point *p)
{
	const struct bb_timeline_run *run = &t->runs[p->run];
	const struct bb_estimate *e = bb_timeline__judged(c, p);
	char interval[64] = "", *title;

	if (isfinite(e->lo) && isfinite(e->hi))
		snprintf(interval, sizeof(interval), " [%.4g, %.4g]", e->lo, e->hi);
	if (asprintf(&title, "%s, commit %.*s: %.4g%s%s, %s", run->started ? run->started : run->id,
		     COMMIT_DIGITS, run->commit[0] ? run->commit : "unknown", e->value, interval,
		     c->by_ratio ? " times the anchor" : " ns",
		     bb_timeline__is_judged(t, p) ? bb_history_mark_name(p->judged.mark)
						  : "not judged") < 0)
		return NULL;
	return title;
}

static int allocate(const struct bb_timeline_case *c, struct plotted *p)
{
	double **columns[] = {&p->run,   &p->value,   &p->lo,     &p->hi,
			      &p->other, &p->band_lo, &p->band_hi};
	const size_t n = sizeof(columns) / sizeof(columns[0]);

	p->n = c->n_points;
	p->v = calloc(n * p->n + 1, sizeof(*p->v));
	if (p->n <= TITLED_POINTS)
		p->titles = calloc(p->n + 1, sizeof(*p->titles));
	for (size_t i = 0; p->v && i < n; i++)
		*columns[i] = p->v + i * p->n;
	return p->v && (p->titles || p->n > TITLED_POINTS) ? 0 : -ENOMEM;
}

static void take_mark(struct plotted *p, double run, const char *label, size_t colour)
{
	if (p->n_marks == MAX_MARKS)
		memmove(p->marks, p->marks + 1, --p->n_marks * sizeof(*p->marks));
	p->marks[p->n_marks++] = (struct bb_chart_mark){.x = run, .label = label, .colour = colour};
}

static void take_point(const struct bb_timeline *t, const struct bb_timeline_case *c, size_t i,
		       struct plotted *p)
{
	const struct bb_timeline_point *point = &c->points[i];
	const struct bb_estimate *e = bb_timeline__judged(c, point);
	bool judged = bb_timeline__is_judged(t, point);

	p->run[i] = (double)i + 1;
	p->value[i] = judged ? e->value : (double)NAN;
	p->lo[i] = e->lo;
	p->hi[i] = e->hi;
	p->other[i] = judged ? (double)NAN : e->value;
	p->any_other |= !judged;
	p->band_lo[i] = exp(point->judged.baseline - point->judged.limit);
	p->band_hi[i] = exp(point->judged.baseline + point->judged.limit);
	if (point->judged.change)
		take_mark(p, p->run[i], point->judged.change > 0 ? "▲" : "▼",
			  point->judged.change > 0 ? SLOWER : FASTER);
	bb_chart_widen(&p->x, p->run[i]);
	bb_chart_widen(&p->y, e->value);
	bb_chart_widen(&p->y, e->lo);
	bb_chart_widen(&p->y, e->hi);
	bb_chart_widen(&p->y, p->band_lo[i]);
	bb_chart_widen(&p->y, p->band_hi[i]);
}

static int plot(const struct bb_report *r, const struct bb_timeline *t,
		const struct bb_timeline_case *c, struct plotted *p)
{
	int rc = allocate(c, p);

	p->x = (struct bb_chart_axis){.label = "stored runs, oldest first",
				      .lo = NAN,
				      .hi = NAN,
				      .whole = true};
	p->y = (struct bb_chart_axis){.label = c->by_ratio ? "ratio to the anchor of the run"
							   : "latency, ns a run",
				      .lo = NAN,
				      .hi = NAN};
	for (size_t i = 0; !rc && i < c->n_points; i++) {
		take_point(t, c, i, p);
		if (!p->titles)
			continue;
		p->titles[i] = title_of(t, c, &c->points[i]);
		rc = p->titles[i] ? 0 : -ENOMEM;
	}
	for (p->this_run = 0; p->this_run < c->n_points; p->this_run++)
		if (!strcmp(t->runs[c->points[p->this_run].run].id, r->id))
			break;
	return rc;
}

static void put_chart(FILE *out, const struct bb_timeline *t, const struct bb_timeline_case *c,
		      const struct plotted *p)
{
	const struct bb_timeline_point *this_run = p->this_run < p->n ? &c->points[p->this_run]
								      : NULL;
	const double this_value = this_run ? bb_timeline__judged(c, this_run)->value : (double)NAN;
	struct bb_chart_line lines[3] = {
		{.x = p->run,
		 .y = p->value,
		 .lo = p->lo,
		 .hi = p->hi,
		 .titles = p->titles,
		 .n = p->n},
	};
	size_t n = 1;
	const struct bb_chart_backdrop behind = {
		.x = p->run,
		.lo = p->band_lo,
		.hi = p->band_hi,
		.n = p->n,
		.marks = p->marks,
		.n_marks = p->n_marks,
	};

	if (p->any_other)
		lines[n++] = (struct bb_chart_line){
			.label = "not judged",
			.x = p->run,
			.y = p->other,
			.titles = p->titles,
			.n = p->n,
			.colour = NOT_JUDGED,
			.loose = true,
		};
	if (this_run)
		lines[n++] = (struct bb_chart_line){
			.label = "this run",
			.x = &p->run[p->this_run],
			.y = &this_value,
			.n = 1,
			.colour = THIS_RUN,
			.titles = p->titles ? &p->titles[p->this_run] : NULL,
			.loose = true,
		};
	fputs("<figure>\n", out);
	bb_chart_lines(out, &p->x, &p->y, lines, n, &behind);
	fputs("<figcaption><b>", out);
	bb_xml_text(out, c->name);
	fputs("</b>: ", out);
	put_verdict(out, t, c);
	fputs("</figcaption></figure>\n", out);
}

static int history_chart(FILE *out, const struct bb_report *r, const struct bb_timeline *t,
			 const struct bb_timeline_case *c)
{
	struct plotted p = {0};
	int rc = plot(r, t, c, &p);

	if (!rc && !isnan(p.y.lo))
		put_chart(out, t, c, &p);
	plotted_done(&p);
	return rc;
}

/* What is drawn first: news, then what is no part of a sweep. */
enum rank { NEWS, SINGLE, SWEPT, NO_CHART };

static enum rank rank_of(const struct bb_report *r, const struct bb_timeline *t,
			 const struct bb_timeline_case *c)
{
	const struct bb_case *of = bb_report__find_case(r, c->name);

	if (!of || c->n_points < 2)
		return NO_CHART;
	if (bb_history_is_news(bb_timeline__mark(t, c)))
		return NEWS;
	return bb_is_sweep(r, (size_t)(of - r->cases)) ? SWEPT : SINGLE;
}

int bb_html_history_charts(FILE *out, const struct bb_report *r, const struct bb_timeline *t)
{
	size_t n = 0;
	int rc = 0;

	if (bb_html_history_runs(r, t) < 2) {
		fputs("<p>One run is stored: history begins with the second.</p>\n", out);
		return 0;
	}
	fprintf(out,
		"<p class=faint>What is judged, run by run: the ratio to the anchor program of the "
		"same run or, without one, the latency. Within the band it is steady. From ▲ on it "
		"is slower, from ▼ on faster; a run on another machine than now, or an incomplete "
		"one, is not judged. The first %zu are learnt from.</p>\n",
		bb_history_default_rule.window_min);
	for (enum rank rank = NEWS; rank < NO_CHART; rank++) {
		for (size_t i = 0; !rc && i < t->n_cases; i++) {
			if (rank_of(r, t, &t->cases[i]) != rank || n++ >= BB_HTML_HISTORY_CHARTS)
				continue;
			begin_item(out, n - 1, BB_HTML_CHARTS, BB_HTML_CHARTS_END);
			rc = history_chart(out, r, t, &t->cases[i]);
		}
	}
	end_items(out, n, BB_HTML_CHARTS_END);
	if (n > BB_HTML_HISTORY_CHARTS)
		fprintf(out,
			"<p>%zu more cases are not drawn; <code>bpfbench history</code> lists "
			"all.</p>\n",
			n - BB_HTML_HISTORY_CHARTS);
	return rc;
}
