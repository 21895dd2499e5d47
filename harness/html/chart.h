/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_CHART_H
#define BB_HTML_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * Charts as SVG inside an HTML page: no script, no font and no file besides. They are laid out for
 * some 460 px, two beside each other on a desk and one on a phone. Colours are classes (c0..c7,
 * band, axis, ...) that the page's style sheet gives a colour for light, dark and print; what
 * colour tells is told by a label, too. Every mark has a <title>, which browsers show under the
 * pointer.
 */
#define BB_CHART_COLOURS 8u

struct bb_chart_axis {
	const char *label; /* with its unit */
	bool logarithmic;  /* then both ends are above 0 */
	bool whole;        /* only whole numbers are ticks */
	double lo, hi;     /* of the data; the chart rounds them outwards */
};

/* The axis has room for `value`, too; it begins with lo and hi NAN. What is not finite is passed
 * over. */
void bb_chart_widen(struct bb_chart_axis *axis, double value);

/* One row of a chart of ranges: a dot, the interval around it, and how far the distribution goes.
 * NAN: not drawn. */
struct bb_chart_range {
	const char *label;
	double value, lo, hi, far;
	size_t colour;
};

/* A row each, from top to bottom. `band`: half the width of a band around 0 that does not matter;
 * NAN: none. */
void bb_chart_ranges(FILE *out, const struct bb_chart_axis *x, const struct bb_chart_range *rows,
		     size_t n, double band);

struct bb_chart_line {
	const char *label;     /* NULL: not in the key */
	const double *x, *y;   /* x[n], y[n]; points that are not finite are left out */
	const double *lo, *hi; /* y intervals; NULL: none */
	char *const *titles;   /* what is said of each point; NULL: its figures */
	size_t n;
	size_t colour;
	bool steps; /* from point to point by steps, as a distribution function goes */
	bool loose; /* points only, not joined */
};

/* Something that is to be seen at an x: a vertical line with a word at its top. */
struct bb_chart_mark {
	double x;
	const char *label;
	size_t colour;
};

/* What stands behind lines. Zeroed: nothing. */
struct bb_chart_backdrop {
	/* a band: x[n], lo[n], hi[n]; parted where one is not finite */
	const double *x, *lo, *hi;
	size_t n;
	const struct bb_chart_mark *marks;
	size_t n_marks;
};

/* Lines over a common plane, with a key below. `behind` may be NULL. */
void bb_chart_lines(FILE *out, const struct bb_chart_axis *x, const struct bb_chart_axis *y,
		    const struct bb_chart_line *lines, size_t n,
		    const struct bb_chart_backdrop *behind);

#endif
