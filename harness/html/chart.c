/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/chart.h"

#include <math.h>

#include "base/text.h"

/* In the units of the view box; the page scales it to its width. */
#define WIDTH 460.0
#define LEFT_OF_RANGES 168.0
#define LEFT_OF_LINES 62.0
#define RIGHT 16.0
#define TOP 18.0 /* room for the words of marks */
#define ROW 24.0
#define BELOW 40.0 /* tick labels and the axis' own */
#define LINES_HEIGHT 220.0
#define KEY_ROW 20.0
#define KEY_COLUMNS 2u
#define LABEL_CHARS 18
#define LABEL_WIDTH 36.0 /* of ticks */
#define LABEL_HEIGHT 16.0
#define MAX_TICKS 16
#define MAX_MARKS 64u /* points of a line that are marked; more are the line itself */

/* --- axes --- */

void bb_chart_widen(struct bb_chart_axis *a, double value)
{
	if (!isfinite(value))
		return;
	a->lo = isnan(a->lo) || value < a->lo ? value : a->lo;
	a->hi = isnan(a->hi) || value > a->hi ? value : a->hi;
}

/* Values to places: `from` is where lo is drawn. */
struct scale {
	bool logarithmic;
	double lo, hi, from, to;
	double ticks[MAX_TICKS];
	size_t n_ticks;
};

static double place(const struct scale *s, double value)
{
	double share = s->logarithmic ? log(value / s->lo) / log(s->hi / s->lo)
				      : (value - s->lo) / (s->hi - s->lo);

	return s->from + share * (s->to - s->from);
}

/* The least of 1, 2, 5 times a power of ten that is no less than `least`. */
static double round_step(double least)
{
	double power = pow(10, floor(log10(least)));

	return least <= power       ? power
	       : least <= 2 * power ? 2 * power
	       : least <= 5 * power ? 5 * power
				    : 10 * power;
}

static void add_tick(struct scale *s, double value)
{
	if (s->n_ticks < MAX_TICKS)
		s->ticks[s->n_ticks++] = value;
}

static void set_linear(struct scale *s, const struct bb_chart_axis *axis)
{
	double range = axis->hi > axis->lo ? axis->hi - axis->lo : fmax(fabs(axis->hi), 1);
	double step = round_step(axis->whole ? fmax(range / 6, 1) : range / 6);

	s->lo = floor(axis->lo / step) * step;
	s->hi = ceil((axis->hi > axis->lo ? axis->hi : axis->lo + range) / step) * step;
	for (double v = s->lo; v <= s->hi + step / 2; v += step)
		add_tick(s, fabs(v) < step / 1e6 ? 0 : v);
}

/* Ticks at 1, 2 and 5, or at powers of ten alone where there is no room for the others. */
static void set_logarithmic(struct scale *s, const struct bb_chart_axis *axis)
{
	static const double between[] = {1, 2, 5};
	double room = s->from < s->to ? (s->to - s->from) / LABEL_WIDTH
				      : (s->from - s->to) / LABEL_HEIGHT;
	/* 1 and 2 are nearest to each other */
	bool wide = log10(axis->hi / axis->lo) > log10(2) * room;

	s->lo = axis->lo / 1.1;
	s->hi = axis->hi * 1.1;
	for (double power = pow(10, floor(log10(s->lo))); power <= s->hi; power *= 10)
		for (size_t i = 0; i < (wide ? 1 : 3); i++)
			if (power * between[i] >= s->lo && power * between[i] <= s->hi)
				add_tick(s, power * between[i]);
}

static struct scale make_scale(const struct bb_chart_axis *axis, double from, double to)
{
	struct scale s = {.logarithmic = axis->logarithmic && axis->lo > 0, .from = from, .to = to};

	if (s.logarithmic)
		set_logarithmic(&s, axis);
	else
		set_linear(&s, axis);
	return s;
}

static void put_number(FILE *out, double value)
{
	if (fabs(value) >= 1e6)
		fprintf(out, "%g M", value / 1e6);
	else if (fabs(value) >= 1e4)
		fprintf(out, "%g k", value / 1e3);
	else
		fprintf(out, "%g", value);
}

static void put_x_axis(FILE *out, const struct scale *s, const char *label, double top,
		       double bottom)
{
	for (size_t i = 0; i < s->n_ticks; i++) {
		double x = place(s, s->ticks[i]);

		fprintf(out,
			"<path class=grid d='M%.1f %.1fV%.1f'/><text class=tick x=%.1f y=%.1f "
			"text-anchor=middle>",
			x, top, bottom, x, bottom + 14);
		put_number(out, s->ticks[i]);
		fputs("</text>", out);
	}
	fprintf(out, "<text class=axis x=%.1f y=%.1f text-anchor=middle>", (s->from + s->to) / 2,
		bottom + 32);
	bb_xml_text(out, label);
	fputs("</text>\n", out);
}

static void put_y_axis(FILE *out, const struct scale *s, const char *label, double left,
		       double right)
{
	for (size_t i = 0; i < s->n_ticks; i++) {
		double y = place(s, s->ticks[i]);

		fprintf(out,
			"<path class=grid d='M%.1f %.1fH%.1f'/><text class=tick x=%.1f y=%.1f "
			"text-anchor=end>",
			left, y, right, left - 6, y + 4);
		put_number(out, s->ticks[i]);
		fputs("</text>", out);
	}
	fprintf(out,
		"<text class=axis transform='translate(14 %.1f)rotate(-90)' text-anchor=middle>",
		(s->from + s->to) / 2);
	bb_xml_text(out, label);
	fputs("</text>\n", out);
}

static void begin_svg(FILE *out, double height, const char *label)
{
	fprintf(out, "<svg class=chart viewBox='0 0 %.0f %.0f' role=img aria-label='", WIDTH,
		height);
	bb_xml_text(out, label);
	fputs("'>\n", out);
}

/* At most LABEL_CHARS characters, the end of a longer one: that is where names differ. */
static void put_label(FILE *out, const char *text)
{
	size_t chars = 0;

	for (const char *c = text; *c; c++)
		chars += (*c & 0xc0) != 0x80;
	if (chars > LABEL_CHARS)
		fputs("…", out);
	for (; chars > LABEL_CHARS; chars--)
		text += bb_utf8_len(text) ? bb_utf8_len(text) : 1;
	bb_xml_text(out, text);
}

/* --- ranges --- */

/* Within the plot, whatever the figure. */
static double within(const struct scale *s, double value)
{
	return fmin(fmax(place(s, value), s->from), s->to);
}

static void put_range(FILE *out, const struct scale *s, const struct bb_chart_range *r, double y)
{
	fprintf(out, "<g class=c%zu><title>", r->colour % BB_CHART_COLOURS);
	bb_xml_text(out, r->label);
	fprintf(out, ": %.4g", r->value);
	if (isfinite(r->lo) && isfinite(r->hi))
		fprintf(out, " [%.4g, %.4g]", r->lo, r->hi);
	fprintf(out, "</title><text class=label x=%.1f y=%.1f text-anchor=end>", LEFT_OF_RANGES - 8,
		y + 4);
	put_label(out, r->label);
	fputs("</text>", out);
	if (isfinite(r->value) && isfinite(r->far))
		fprintf(out, "<path class=far d='M%.1f %.1fH%.1f'/>", within(s, r->value), y,
			within(s, r->far));
	if (isfinite(r->lo) && isfinite(r->hi))
		fprintf(out, "<path class=interval d='M%.1f %.1fH%.1f'/>", within(s, r->lo), y,
			within(s, r->hi));
	if (isfinite(r->value))
		fprintf(out, "<circle cx=%.1f cy=%.1f r=4.5 />", within(s, r->value), y);
	fputs("</g>\n", out);
}

void bb_chart_ranges(FILE *out, const struct bb_chart_axis *x, const struct bb_chart_range *rows,
		     size_t n, double band)
{
	double bottom = TOP + ROW * (double)n;
	struct scale s = make_scale(x, LEFT_OF_RANGES, WIDTH - RIGHT);

	begin_svg(out, bottom + BELOW, x->label);
	if (isfinite(band))
		fprintf(out, "<rect class=band x=%.1f y=%.1f width=%.1f height=%.1f />",
			within(&s, -band), TOP, within(&s, band) - within(&s, -band), bottom - TOP);
	put_x_axis(out, &s, x->label, TOP, bottom);
	for (size_t i = 0; i < n; i++)
		put_range(out, &s, &rows[i], TOP + ROW * ((double)i + 0.5));
	fputs("</svg>\n", out);
}

/* --- lines --- */

static void put_path(FILE *out, const struct scale *x, const struct scale *y,
		     const struct bb_chart_line *line)
{
	bool drawn = false;

	fputs("<path class=line d='", out);
	for (size_t i = 0; i < line->n; i++) {
		if (!isfinite(line->x[i]) || !isfinite(line->y[i]))
			continue;
		if (drawn && line->steps)
			fprintf(out, "H%.1fV%.1f", place(x, line->x[i]), place(y, line->y[i]));
		else
			fprintf(out, "%c%.1f %.1f", drawn ? 'L' : 'M', place(x, line->x[i]),
				place(y, line->y[i]));
		drawn = true;
	}
	fputs("'/>", out);
}

static void put_title(FILE *out, const struct bb_chart_line *line, size_t i)
{
	fputs("<title>", out);
	if (line->titles) {
		bb_xml_text(out, line->titles[i]);
	} else {
		bb_xml_text(out, line->label);
		fprintf(out, ": %.4g at %.6g", line->y[i], line->x[i]);
	}
	fputs("</title>", out);
}

static void put_points(FILE *out, const struct scale *x, const struct scale *y,
		       const struct bb_chart_line *line)
{
	for (size_t i = 0; i < line->n; i++) {
		if (!isfinite(line->x[i]) || !isfinite(line->y[i]))
			continue;
		if (line->lo && isfinite(line->lo[i]) && isfinite(line->hi[i]))
			fprintf(out, "<path class=interval d='M%.1f %.1fV%.1f'/>",
				place(x, line->x[i]), place(y, line->lo[i]), place(y, line->hi[i]));
		fprintf(out, "<circle cx=%.1f cy=%.1f r=%s>", place(x, line->x[i]),
			place(y, line->y[i]), line->loose ? "4" : "2.5");
		put_title(out, line, i);
		fputs("</circle>", out);
	}
}

/* Many points that are not joined: a dot each, and nothing said of it. */
static void put_dots(FILE *out, const struct scale *x, const struct scale *y,
		     const struct bb_chart_line *line)
{
	fputs("<path class=dots d='", out);
	for (size_t i = 0; i < line->n; i++)
		if (isfinite(line->x[i]) && isfinite(line->y[i]))
			fprintf(out, "M%.1f %.1fh0", place(x, line->x[i]), place(y, line->y[i]));
	fputs("'/>", out);
}

static void put_line(FILE *out, const struct scale *x, const struct scale *y,
		     const struct bb_chart_line *line)
{
	fprintf(out, "<g class='c%zu d%zu'>", line->colour % BB_CHART_COLOURS,
		line->colour / BB_CHART_COLOURS % 4);
	if (!line->loose)
		put_path(out, x, y, line);
	if (!line->steps && line->n <= MAX_MARKS)
		put_points(out, x, y, line);
	else if (line->loose)
		put_dots(out, x, y, line);
	fputs("</g>\n", out);
}

/* From b->x[from] on: where it ends, one beyond the last point. */
static size_t band_end(const struct bb_chart_backdrop *b, size_t from)
{
	while (from < b->n && isfinite(b->x[from]) && isfinite(b->lo[from]) &&
	       isfinite(b->hi[from]))
		from++;
	return from;
}

static void put_band(FILE *out, const struct scale *x, const struct scale *y,
		     const struct bb_chart_backdrop *b)
{
	for (size_t from = 0, to; from < b->n; from = to + 1) {
		to = band_end(b, from);
		if (to == from)
			continue;
		fputs("<path class=band d='", out);
		for (size_t i = from; i < to; i++)
			fprintf(out, "%c%.1f %.1f", i == from ? 'M' : 'L', place(x, b->x[i]),
				place(y, b->hi[i]));
		for (size_t i = to; i-- > from;)
			fprintf(out, "L%.1f %.1f", place(x, b->x[i]), place(y, b->lo[i]));
		fputs("Z'/>\n", out);
	}
}

static void put_marks(FILE *out, const struct scale *x, const struct bb_chart_backdrop *b,
		      double bottom)
{
	for (size_t i = 0; i < b->n_marks; i++) {
		const struct bb_chart_mark *m = &b->marks[i];
		double at = place(x, m->x);

		fprintf(out,
			"<g class=c%zu><path class=mark d='M%.1f %.1fV%.1f'/><text class=tick "
			"x=%.1f y=%.1f text-anchor=%s>",
			m->colour % BB_CHART_COLOURS, at, TOP, bottom, at, TOP - 5,
			at > (x->from + x->to) / 2 ? "end" : "start");
		bb_xml_text(out, m->label);
		fputs("</text></g>\n", out);
	}
}

static size_t count_labels(const struct bb_chart_line *lines, size_t n)
{
	size_t labels = 0;

	for (size_t i = 0; i < n; i++)
		labels += lines[i].label != NULL;
	return labels;
}

static void put_key(FILE *out, const struct bb_chart_line *lines, size_t n, double top)
{
	for (size_t i = 0, nth = 0; i < n; i++) {
		double x = LEFT_OF_LINES +
			   (WIDTH - LEFT_OF_LINES) / KEY_COLUMNS * (double)(nth % KEY_COLUMNS);
		double y = top + KEY_ROW * (double)(nth / KEY_COLUMNS);

		if (!lines[i].label)
			continue;
		fprintf(out,
			"<g class='c%zu d%zu'><path class=%s d='M%.1f %.1fh%d'/><text class=label "
			"x=%.1f y=%.1f>",
			lines[i].colour % BB_CHART_COLOURS, lines[i].colour / BB_CHART_COLOURS % 4,
			lines[i].loose ? "dots" : "line", lines[i].loose ? x + 13 : x, y,
			lines[i].loose ? 0 : 26, x + 32, y + 4);
		put_label(out, lines[i].label);
		fputs("</text></g>", out);
		nth++;
	}
	putc('\n', out);
}

void bb_chart_lines(FILE *out, const struct bb_chart_axis *x, const struct bb_chart_axis *y,
		    const struct bb_chart_line *lines, size_t n,
		    const struct bb_chart_backdrop *behind)
{
	double bottom = TOP + LINES_HEIGHT, key = bottom + BELOW + 12;
	struct scale sx = make_scale(x, LEFT_OF_LINES, WIDTH - RIGHT),
		     sy = make_scale(y, bottom, TOP);

	begin_svg(out,
		  key + KEY_ROW * (double)((count_labels(lines, n) + KEY_COLUMNS - 1) /
					   KEY_COLUMNS),
		  y->label);
	if (behind)
		put_band(out, &sx, &sy, behind);
	put_x_axis(out, &sx, x->label, TOP, bottom);
	put_y_axis(out, &sy, y->label, LEFT_OF_LINES, WIDTH - RIGHT);
	if (behind)
		put_marks(out, &sx, behind, bottom);
	for (size_t i = 0; i < n; i++)
		put_line(out, &sx, &sy, &lines[i]);
	put_key(out, lines, n, key);
	fputs("</svg>\n", out);
}
