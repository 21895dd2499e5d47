/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/timeline.h"

/* Writes a picture by gnuplot (plots/) as part of an HTML page. Replaces its colours by those of
 * page.css, which fit light and dark screens. Puts `prefix` before each id. Writes only the
 * elements and attributes that gnuplot draws with, so no scripts and no links. Returns 0.
 * Returns -EINVAL and writes nothing if `svg` is not a picture by gnuplot. */
int bb_svg__embed(FILE *out, const char *svg, const char *prefix);

/* A picture that plots/plot.sh has drawn for the page of a run. */
struct bb_figure {
	char *kind; /* kind of figure, such as "net" (listed in plots/README.md) */
	/* scenario, drive and parameter of all cases in the figure, as `show --format plot`
	 * writes them; `param` is "-" if the cases have no parameter */
	char *scenario, *drive, *param;
	char *what, *how; /* title and explanation; `how` may be NULL */
	char *svg;
};

struct bb_figures {
	struct bb_figure *v;
	size_t n;
	char *why; /* why there are no figures, if n = 0 */
};

/* Reads the files that `plot.sh --page` has left in `dir`. Returns 0 or -errno. */
int bb_figures__read(const char *dir, struct bb_figures *ret_figures, struct bb_err *err);
void bb_figures__done(struct bb_figures *f);

/* True if the figure shows cases of the scenario, drive and parameter of `c`. */
bool bb_figure__is_of(const struct bb_figure *f, const struct bb_case *c);

/* Writes a <figure>. `nth` is the number of the run on the page, from 0; it makes ids unique.
 * Leaves out a picture that gnuplot has not drawn. */
void bb_figures__put(FILE *out, const struct bb_figures *f, const struct bb_figure *figure,
		     size_t nth);

/*
 * One run of an HTML page; the page shows one or more runs. The page needs no other file, no
 * network, and no script except that of a flame graph. Each run has the verdicts of its comparisons
 * first, then the cost of each program with its figures, its history, the time of its lines, the
 * source with the counts of its lines, the flame graph, the programs, notes, and the machine. The
 * page is for a desk, a phone and paper, in light and dark. Its colours are those of Okabe & Ito
 * 2008, which colour-blind people can tell apart.
 */
struct bb_html_page {
	const struct bb_report *report;    /* the run; its summaries must have been computed */
	const struct bb_timeline *history; /* all stored runs; NULL: the page has no history */
	/* HTML of the flame graph, by bb_flame__write_html(); NULL: the page has no flame graph */
	const char *flame;
	/* line_flames[report->n_timed]: for each timed case, HTML of a flame graph of its lines, by
	 * bb_flame__write_html(); NULL: the page has none */
	char *const *line_flames;
	/* the pictures of this run; NULL: no pictures were drawn */
	const struct bb_figures *figures;
};

/* Writes one run as a page without figures, history and flame graphs (see struct bb_exporter). */
int bb_export_html(const struct bb_report *r, FILE *out, struct bb_err *err);

/* Writes pages[n], each with one run, as one HTML page. The caller checks `out` for write
 * errors. */
void bb_html__write(const struct bb_html_page *pages, size_t n, FILE *out);
