/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/timeline.h"
#include "html/figures.h"

/*
 * Runs as one HTML page that needs no other file, no network, and no script but a flame graph's.
 * Each run has its verdicts first, then the cost of each program with its figures, the time of its
 * lines, the source with the counts of its lines, its history, the flame graph, the programs,
 * notes, and the machine. The page is for a desk, a phone and paper, in light and dark. Its colours
 * are those of Okabe & Ito 2008, which colour-blind people can tell apart.
 */
struct bb_html_page {
	const struct bb_report *report;    /* summarised */
	const struct bb_timeline *history; /* all stored runs; NULL: the page has no history */
	/* HTML by bb_flame__write_html(); NULL: the page has no flame graph */
	const char *flame;
	/* line_flames[report->n_timed], HTML by bb_flame__write_html(); NULL: the page has none */
	char *const *line_flames;
	const struct bb_figures *figures; /* NULL: no pictures were drawn */
};

/* Writes one run as a page (see struct bb_exporter). */
int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *err);

/* Writes pages[n], a run each, as one page. Returns 0 or -ENOMEM. The caller must check `out`
 * for errors of writing. */
int bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out);
