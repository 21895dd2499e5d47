/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_FIGURES_H
#define BB_HTML_FIGURES_H

#include "base/err.h"
#include "base/std.h"
#include "report/report.h"

/*
 * A picture by gnuplot (plots/) as part of an HTML page: its colours become those of the page
 * (page.css), so that it follows light and dark, and its ids begin with `prefix`. Only elements and
 * attributes that gnuplot is known to draw with get through; everything else in a picture, such as
 * a script or a link, is left out. 0; -EINVAL for anything but such a picture, and then nothing is
 * written.
 */
int bb_svg__embed(FILE *out, const char *svg, const char *prefix);

/* The pictures of a run that plots/plot.sh has drawn for a page. */
struct bb_figure {
	char *kind; /* "ecdf", "net", ...: plots/README.md */
	/* of the cases in it, as `show --format plot` has them; param "-": they have none */
	char *scenario, *drive, *param;
	char *what, *how; /* its caption: the figure explained */
	char *svg;
};

struct bb_figures {
	struct bb_figure *v;
	size_t n;
	char *why; /* n = 0: why there are none */
};

/* Read the files that `plot.sh --page` has left in `dir`. 0 or -errno. */
int bb_figures__read(const char *dir, struct bb_figures *ret_figures, struct bb_err *err);
void bb_figures__done(struct bb_figures *f);

/* True if the figure shows cases of that case's scenario, drive and parameter. */
bool bb_figure__is_of(const struct bb_figure *f, const struct bb_case *c);

/* As <figure>. `nth` run of the page. 0, -ENOMEM; a picture that cannot be read is left out. */
int bb_figures__put(FILE *out, const struct bb_figures *f, const struct bb_figure *figure,
		    size_t nth);

#endif
