/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_charts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/sweep_table.h"
#include "html/chart.h"
#include "judge/ecdf.h"

#define ECDF_POINTS 160u
#define CURVE_VALUES 3u /* fewer make no curve */
#define LOG_FROM 20.0   /* largest / smallest */
#define TAIL 0.999      /* of a distribution: what is beyond would squeeze the rest */

static void begin_figure(FILE *out)
{
	fputs("<figure>\n", out);
}

static void end_figure(FILE *out, const char *caption)
{
	fputs("<figcaption>", out);
	bb_xml_text(out, caption);
	fputs("</figcaption></figure>\n", out);
}

static struct bb_chart_axis make_axis(const char *label)
{
	return (struct bb_chart_axis){.label = label, .lo = NAN, .hi = NAN};
}

/* From 0, or on a logarithmic scale where the data span a wide range. False: there are no data. */
static bool settle(struct bb_chart_axis *a)
{
	if (isnan(a->lo))
		return false;
	a->logarithmic = a->lo > 0 && a->hi / a->lo > LOG_FROM;
	if (!a->logarithmic && a->lo > 0)
		a->lo = 0;
	return true;
}

/* The place of a variant among those of the run: its colour on all charts. */
static size_t colour_of(const struct bb_report *r, const char *variant)
{
	size_t colour = 0;

	for (size_t i = 0; i < r->n_cases; i++) {
		bool seen = false;

		if (!strcmp(r->cases[i].variant, variant))
			return colour;
		for (size_t k = 0; k < i && !seen; k++)
			seen = !strcmp(r->cases[k].variant, r->cases[i].variant);
		colour += !seen;
	}
	return colour;
}

static bool same_curves(const struct bb_case *a, const struct bb_case *b)
{
	return !strcmp(a->scenario, b->scenario) && !strcmp(a->drive, b->drive) &&
	       bb_same_text(a->param, b->param);
}

bool bb_is_first_of_table(const struct bb_report *r, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (bb_same_table(&r->cases[k], &r->cases[i]))
			return false;
	return !bb_is_sweep(r, i);
}

bool bb_is_first_of_curves(const struct bb_report *r, size_t i)
{
	const struct bb_case *c = &r->cases[i];
	size_t values = 0;

	for (size_t k = 0; k < r->n_cases; k++) {
		if (!same_curves(&r->cases[k], c))
			continue;
		if (k < i)
			return false;
		values += !strcmp(r->cases[k].variant, c->variant);
	}
	/* Inputs are names: only a sweep of them makes an axis. */
	return c->param && values >= CURVE_VALUES &&
	       (strcmp(c->param, "input") || bb_is_sweep(r, i));
}

int bb_html_verdict_chart(FILE *out, const struct bb_report *r)
{
	struct bb_chart_range *rows = calloc(r->n_comparisons, sizeof(*rows));
	struct bb_chart_axis x = make_axis("head against base, %");

	if (!rows)
		return -ENOMEM;
	bb_chart_widen(&x, 0);
	for (size_t i = 0; i < r->n_comparisons; i++) {
		const struct bb_comparison *c = &r->comparisons[i];

		rows[i] = (struct bb_chart_range){
			.label = c->name,
			.value = 100 * (c->ratio.value - 1),
			.lo = 100 * (c->ratio.lo - 1),
			.hi = 100 * (c->ratio.hi - 1),
			.far = NAN,
			.colour = c->verdict == BB_VERDICT_REGRESSED  ? 1
				  : c->verdict == BB_VERDICT_IMPROVED ? 2
								      : 7,
		};
		bb_chart_widen(&x, rows[i].value);
		bb_chart_widen(&x, rows[i].lo);
		bb_chart_widen(&x, rows[i].hi);
		bb_chart_widen(&x, 200 * c->threshold);
		bb_chart_widen(&x, -200 * c->threshold);
	}
	begin_figure(out);
	bb_chart_ranges(out, &x, rows, r->n_comparisons, 100 * r->comparisons[0].threshold);
	end_figure(out, "Differences with the interval that is valid at every look; the grey band "
			"is what does not count.");
	free(rows);
	return 0;
}

int bb_html_latency_chart(FILE *out, const struct bb_report *r, size_t first)
{
	struct bb_chart_range *rows = calloc(r->n_cases, sizeof(*rows));
	struct bb_chart_axis x = make_axis("latency, ns a run");
	size_t n = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!bb_same_table(c, &r->cases[first]) || isnan(c->summary.latency.value))
			continue;
		rows[n] = (struct bb_chart_range){
			.label = c->variant,
			.value = c->summary.latency.value,
			.lo = c->summary.latency.lo,
			.hi = c->summary.latency.hi,
			.far = c->summary.p99.value,
			.colour = colour_of(r, c->variant),
		};
		bb_chart_widen(&x, rows[n].value);
		bb_chart_widen(&x, rows[n].lo);
		bb_chart_widen(&x, rows[n].hi);
		bb_chart_widen(&x, rows[n].far);
		n++;
	}
	if (settle(&x)) {
		begin_figure(out);
		bb_chart_ranges(out, &x, rows, n, NAN);
		end_figure(out, x.logarithmic ? "Latency with its interval; a thin line goes to "
						"p99 where it is known. Logarithmic."
					      : "Latency with its interval; a thin line goes to "
						"p99 where it is known.");
	}
	free(rows);
	return 0;
}

/* Where the curve passes TAIL. */
static double tail_of(const struct bb_ecdf *e)
{
	for (size_t i = 0; i < e->n; i++)
		if (e->share[i] >= TAIL)
			return e->ns[i];
	return e->n ? e->ns[e->n - 1] : (double)NAN;
}

int bb_html_ecdf_chart(FILE *out, const struct bb_report *r, size_t first)
{
	struct bb_chart_line *lines = calloc(r->n_cases, sizeof(*lines));
	struct bb_ecdf *ecdfs = calloc(r->n_cases, sizeof(*ecdfs));
	struct bb_chart_axis x = make_axis("ns a run"),
			     y = {.label = "share of the runs", .lo = 0, .hi = 1};
	size_t n = 0;
	int rc = lines && ecdfs ? 0 : -ENOMEM;

	for (size_t i = first; !rc && i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!bb_same_table(c, &r->cases[first]))
			continue;
		rc = bb_ecdf__make(c, ECDF_POINTS, &ecdfs[n]);
		if (rc)
			break;
		if (!ecdfs[n].n) {
			bb_ecdf__done(&ecdfs[n]);
			continue;
		}
		lines[n] = (struct bb_chart_line){
			.label = c->variant,
			.x = ecdfs[n].ns,
			.y = ecdfs[n].share,
			.n = ecdfs[n].n,
			.colour = colour_of(r, c->variant),
			.steps = true,
		};
		bb_chart_widen(&x, ecdfs[n].ns[0]);
		bb_chart_widen(&x, tail_of(&ecdfs[n]));
		n++;
	}
	for (size_t i = 0; i < n; i++) /* the few beyond all axes are in the tables */
		while (lines[i].n > 1 && lines[i].x[lines[i].n - 1] > x.hi)
			lines[i].n--;
	if (!rc && settle(&x)) {
		begin_figure(out);
		bb_chart_lines(out, &x, &y, lines, n, NULL);
		end_figure(out, "Distribution of single runs: the share that took at most so long, "
				"to the 99.9th percentile.");
	}
	for (size_t i = 0; ecdfs && i < n; i++)
		bb_ecdf__done(&ecdfs[i]);
	free(ecdfs);
	free(lines);
	return rc;
}

/* One variant's cost over the values of its parameter, at `x` and behind. */
static size_t take_curve(const struct bb_report *r, size_t first, const char *variant, double *x,
			 double *y, double *lo, double *hi)
{
	size_t n = 0;

	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];

		if (!same_curves(c, &r->cases[first]) || strcmp(c->variant, variant))
			continue;
		x[n] = c->param_value;
		y[n] = c->summary.latency.value;
		lo[n] = c->summary.latency.lo;
		hi[n] = c->summary.latency.hi;
		n++;
	}
	return n;
}

int bb_html_curve_chart(FILE *out, const struct bb_report *r, size_t first)
{
	struct bb_chart_axis x = make_axis(r->cases[first].param), y = make_axis("latency, ns a "
										 "run");
	struct bb_chart_line *lines = calloc(r->n_cases, sizeof(*lines));
	double *v = calloc(4 * r->n_cases, sizeof(*v)), *at = v;
	size_t n = 0;

	if (!lines || !v) {
		free(lines);
		free(v);
		return -ENOMEM;
	}
	for (size_t i = first; i < r->n_cases; i++) {
		const struct bb_case *c = &r->cases[i];
		bool seen = false;
		size_t points;

		for (size_t k = 0; k < n && !seen; k++)
			seen = !strcmp(lines[k].label, c->variant);
		if (seen || !same_curves(c, &r->cases[first]))
			continue;
		points = take_curve(r, first, c->variant, at, at + r->n_cases, at + 2 * r->n_cases,
				    at + 3 * r->n_cases);
		lines[n++] = (struct bb_chart_line){
			.label = c->variant,
			.x = at,
			.y = at + r->n_cases,
			.lo = at + 2 * r->n_cases,
			.hi = at + 3 * r->n_cases,
			.n = points,
			.colour = colour_of(r, c->variant),
		};
		for (size_t k = 0; k < points; k++) {
			bb_chart_widen(&x, at[k]);
			bb_chart_widen(&y, at[r->n_cases + k]);
		}
		at += points;
	}
	if (settle(&y)) {
		begin_figure(out);
		bb_chart_lines(out, &x, &y, lines, n, NULL);
		fputs("<figcaption><b>", out);
		bb_xml_text(out, r->cases[first].scenario);
		fputs(", ", out);
		bb_xml_text(out, r->cases[first].drive);
		fputs("</b>: cost against the parameter.</figcaption></figure>\n", out);
	}
	free(v);
	free(lines);
	return 0;
}
