/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_H
#define BB_HTML_HTML_H

#include "base/std.h"
#include "judge/timeline.h"
#include "html/figures.h"
#include "report/report.h"

/*
 * Runs as one HTML page that needs nothing besides: no network, no font, no script but a flame
 * graph's. Of each run: verdicts first, then what each program costs and how the samples are
 * distributed, the time of its lines, the source with the counts of its lines, its history, the
 * flame graph, the programs themselves, the void series, and the machine. For a desk and for a
 * phone; colours are those of Okabe & Ito 2008 (the colour-blind tell them apart), in light, dark
 * and on paper.
 */
struct bb_html_page {
	const struct bb_report *report;    /* summarised */
	const struct bb_timeline *history; /* all stored runs; NULL: no such section */
	/* HTML, as bb_flame__write_html() makes it; NULL: no such section */
	const char *flame;
	/* likewise, of each of report->timed; NULL: none */
	char *const *line_flames;
	const struct bb_figures *figures; /* NULL: nobody has drawn any */
};

/* One run as an exporter (export/exporter.h). */
int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *err);

/* pages[n], a run each. 0 or -ENOMEM; whether the bytes got out is for the caller to ask `out`. */
int bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out);

#endif
