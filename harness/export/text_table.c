/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/text_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/table_cells.h"

void bb_text_table__init(struct bb_text_table *t, const struct bb_text_column *columns,
			 size_t n_columns)
{
	*t = (struct bb_text_table){.columns = columns, .n_columns = n_columns};
}

void bb_text_table__done(struct bb_text_table *t)
{
	for (size_t i = 0; i < t->n_cells; i++)
		free(t->cells[i]);
	free(t->cells);
	t->cells = NULL;
	t->n_cells = 0;
}

/* `text` becomes the table's; NULL: out of memory. */
static void take(struct bb_text_table *t, char *text)
{
	char **cell = text ? bb_append(&t->cells, &t->n_cells, sizeof(*cell)) : NULL;

	if (!cell) {
		free(text);
		t->failed = true;
		return;
	}
	bb_make_clean(text);
	*cell = text;
}

void bb_text_table__add(struct bb_text_table *t, const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	take(t, n < 0 ? NULL : text);
}

void bb_text_table__add_text(struct bb_text_table *t, const char *text)
{
	take(t, strdup(text));
}

static void print_cell(const struct bb_text_table *t, size_t column, size_t width, const char *text,
		       size_t *pending, FILE *out)
{
	size_t space = width - bb_text_width(text);
	bool left = t->columns[column].left;

	*pending += (column ? 2 : 0) + (left ? 0 : space);
	if (*text) {
		fprintf(out, "%*s%s", (int)*pending, "", text);
		*pending = 0;
	}
	*pending += left ? space : 0;
}

int bb_text_table__print(const struct bb_text_table *t, int indent, FILE *out)
{
	size_t n_rows = t->n_columns ? t->n_cells / t->n_columns : 0;
	size_t *width = calloc(t->n_columns + 1, sizeof(*width));

	if (t->failed || !width) {
		free(width);
		return -ENOMEM;
	}
	for (size_t k = 0; k < t->n_columns; k++) {
		width[k] = bb_text_width(t->columns[k].head);
		for (size_t i = 0; i < n_rows; i++) {
			size_t w = bb_text_width(t->cells[i * t->n_columns + k]);

			width[k] = w > width[k] ? w : width[k];
		}
	}
	for (size_t i = 0; i <= n_rows; i++) {
		size_t pending = (size_t)indent;

		for (size_t k = 0; k < t->n_columns; k++)
			print_cell(t, k, width[k],
				   i ? t->cells[(i - 1) * t->n_columns + k] : t->columns[k].head,
				   &pending, out);
		putc('\n', out);
	}
	free(width);
	return 0;
}
