/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/timeline.h"

/* Writes a picture by gnuplot (plots/) as part of an HTML page. Replaces its colours by those of
 * page.css, and puts `prefix` before each id. Writes only the elements and attributes that gnuplot
 * draws with, so no scripts and no links. Returns 0, or -EINVAL without writing if `svg` is not a
 * picture by gnuplot. */
int bb_svg__embed(FILE *out, const char *svg, const char *prefix);

/* A picture that plots/plot.sh has drawn for the page of a run. */
struct bb_figure {
	const char *kind; /* such as "net" (listed in plots/README.md) */
	/* Scenario, drive and parameter of all cases in the figure, as `show --format plot` writes
	 * them. `param` is "-" without a parameter. */
	const char *scenario, *drive, *param;
	char *what;      /* title */
	const char *how; /* explanation, which stands in the memory of `what`, or NULL */
	char *svg;
};

struct bb_figures {
	struct bb_figure *v;
	size_t n;
	char *list; /* the texts of v[n] except `what`, `how` and `svg` */
	char *why;  /* why n is 0 */
};

/* Reads the files that `plot.sh --page` has left in `dir`. Returns 0 or -errno. */
int bb_figures__read(const char *dir, struct bb_figures *ret_figures, struct bb_err *err);
void bb_figures__done(struct bb_figures *f);

/* One run of an HTML page, which shows one or more runs. The page needs no other file, no network,
 * and no script except that of a flame graph. It is for a desk, a phone and paper, in light and
 * dark. Its colours are those of Okabe & Ito 2008, which colour-blind people can tell apart. */
struct bb_html_page {
	const struct bb_report *report;    /* the run; its summaries must have been computed */
	const struct bb_timeline *history; /* all stored runs, or NULL */
	/* HTML of the flame graph by bb_flame__write_html(), or NULL */
	const char *flame;
	/* HTML of flame graphs of lines, one for each of report->n_timed cases, or NULL */
	char *const *line_flames;
	/* the pictures of this run, or NULL */
	const struct bb_figures *figures;
};

/* Writes one run as a page without figures, history and flame graphs (struct bb_exporter). */
int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *err);

/* Writes pages[n] as one HTML page. The caller checks `out` for write errors. */
void bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out);
