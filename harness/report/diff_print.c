/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/diff.h"
#include "report/table_cells.h"

/* What there is nothing of: an empty cell would let the eye slip into the next column. */
#define ABSENT "-"

struct column {
	const char *head;
	bool left;
	void (*put)(const struct bb_diff *row, FILE *mem);
};

static void put_name(const struct bb_diff *row, FILE *mem)
{
	bb_put_clean(mem, row->name);
}

static void put_metric(const struct bb_diff *row, FILE *mem)
{
	fprintf(mem, "%s, %s", row->metric, row->unit);
}

static void put_a(const struct bb_diff *row, FILE *mem)
{
	fputs(bb_cell_number(row->a, row->a).text, mem);
}

static void put_b(const struct bb_diff *row, FILE *mem)
{
	fputs(bb_cell_number(row->b, row->b).text, mem);
}

/* One decimal more than A has: medians of differences are finer than either end, and +-1 % of 900 ns is 9.0. */
static void put_shift(const struct bb_diff *row, FILE *mem)
{
	struct bb_cell cell = bb_cell_number(row->shift, row->a / 10);

	fprintf(mem, "%s%s", row->shift > 0 ? "+" : "", cell.text);
}

static void put_percent(double ratio, FILE *mem)
{
	double percent = 100 * (ratio - 1);

	fprintf(mem, fabs(percent) < 99.995 ? "%+.2f" : "%+.0f", percent);
}

static void put_ratio(const struct bb_diff *row, FILE *mem)
{
	if (isfinite(row->ratio))
		put_percent(row->ratio, mem);
}

static void put_interval(const struct bb_diff *row, FILE *mem)
{
	if (isnan(row->lo) || isnan(row->hi))
		return;
	putc('[', mem);
	put_percent(row->lo, mem);
	fputs(", ", mem);
	put_percent(row->hi, mem);
	putc(']', mem);
}

static void put_verdict(const struct bb_diff *row, FILE *mem)
{
	if (row->has_verdict)
		fputs(bb_verdict_name(row->verdict), mem);
}

static void put_note(const struct bb_diff *row, FILE *mem)
{
	bb_put_clean(mem, row->note ? row->note : "");
}

static const struct column columns[] = {
	{"Case", true, put_name},
	{"Metric", true, put_metric},
	{"A", false, put_a},
	{"B", false, put_b},
	{"Diff", false, put_shift},
	{"Diff %", false, put_ratio},
	{"Interval %", false, put_interval},
	{"Verdict", true, put_verdict},
	{"Note", true, put_note},
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

/* All cells as text, row by row, to be freed with free_cells(). NULL when out of memory. */
static char **make_cells(const struct bb_diffs *d)
{
	char **cells = calloc(d->n * N_COLUMNS + 1, sizeof(*cells));
	bool failed = !cells;

	for (size_t i = 0; !failed && i < d->n * N_COLUMNS; i++) {
		size_t size = 0;
		FILE *mem = open_memstream(&cells[i], &size);

		if (!mem) {
			cells[i] = NULL;
			failed = true;
			break;
		}
		columns[i % N_COLUMNS].put(&d->rows[i / N_COLUMNS], mem);
		if (!ftell(mem) && i % N_COLUMNS + 1 < N_COLUMNS)	/* a note that is not there needs no sign */
			fputs(ABSENT, mem);
		failed = ferror(mem);
		failed = fclose(mem) || failed;
	}
	if (!failed)
		return cells;
	for (size_t i = 0; cells && i < d->n * N_COLUMNS; i++)
		free(cells[i]);
	free(cells);
	return NULL;
}

static void print_line(const char *const *cells, const size_t *width, FILE *out)
{
	size_t pending = 0;		/* blanks held back, so that no line ends in any */

	for (size_t k = 0; k < N_COLUMNS; k++) {
		size_t space = width[k] - bb_text_width(cells[k]);

		pending += (k ? 2 : 0) + (columns[k].left ? 0 : space);
		if (*cells[k]) {
			fprintf(out, "%*s%s", (int)pending, "", cells[k]);
			pending = 0;
		}
		pending += columns[k].left ? space : 0;
	}
	putc('\n', out);
}

static void print_table(const struct bb_diffs *d, char *const *cells, FILE *out)
{
	const char *heads[N_COLUMNS];
	size_t width[N_COLUMNS];

	for (size_t k = 0; k < N_COLUMNS; k++) {
		heads[k] = columns[k].head;
		width[k] = bb_text_width(heads[k]);
		for (size_t i = 0; i < d->n; i++) {
			size_t w = bb_text_width(cells[i * N_COLUMNS + k]);

			width[k] = w > width[k] ? w : width[k];
		}
	}
	print_line(heads, width, out);
	for (size_t i = 0; i < d->n; i++)
		print_line((const char *const *)&cells[i * N_COLUMNS], width, out);
}

int bb_diff_print(const struct bb_diffs *d, const char *label_a, const char *label_b, FILE *out)
{
	char **cells = make_cells(d);

	if (!cells)
		return -ENOMEM;
	fputs("A: ", out);
	bb_put_clean(out, label_a);
	fputs("\nB: ", out);
	bb_put_clean(out, label_b);
	fputs("\n\n", out);
	print_table(d, cells, out);
	fprintf(out, "\n%zu regressed, %zu improved, %zu same, %zu inconclusive\n",
		bb_diffs_count(d, BB_VERDICT_REGRESSED), bb_diffs_count(d, BB_VERDICT_IMPROVED),
		bb_diffs_count(d, BB_VERDICT_SAME), bb_diffs_count(d, BB_VERDICT_INCONCLUSIVE));
	for (size_t i = 0; i < d->n * N_COLUMNS; i++)
		free(cells[i]);
	free(cells);
	return 0;
}
