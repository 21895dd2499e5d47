/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * Writes a picture by gnuplot (plots/) as part of an HTML page. Its colours become those of
 * page.css, so that they follow light and dark. Its ids begin with `prefix`. Only elements and
 * attributes that gnuplot draws with are written; everything else, such as a script or a link, is
 * left out. Returns 0, or -EINVAL without having written anything if it is no such picture.
 */
int bb_svg__embed(FILE *out, const char *svg, const char *prefix);

/* A picture that plots/plot.sh has drawn for the page of a run. */
struct bb_figure {
	char *kind; /* kind of figure, such as "net" (plots/README.md) */
	/* of the cases in the figure, as `show --format plot` writes them; param "-": no
	 * parameter */
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

/* True if the figure shows cases of that case's scenario, drive and parameter. */
bool bb_figure__is_of(const struct bb_figure *f, const struct bb_case *c);

/* Writes a <figure>. `nth` is the number of the run on the page and makes ids unique. Leaves out
 * a picture that cannot be read. Returns 0 or -ENOMEM. */
int bb_figures__put(FILE *out, const struct bb_figures *f, const struct bb_figure *figure,
		    size_t nth);
