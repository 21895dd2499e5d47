/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_parts.h"

#include <errno.h>
#include <math.h>

#include "base/text.h"
#include "export/table_cells.h"

/* Cells of a table. A missing figure, and a text that is empty or NULL, is a dash. */
static void html_cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	bb_xml_text(out, text && *text ? text : "–");
	fputs("</td>", out);
}

void bb_html_text_cell(FILE *out, const char *text)
{
	fputs("<td class=text>", out);
	bb_xml_text(out, text && *text ? text : "–");
	fputs("</td>", out);
}

void bb_html_number_cell(FILE *out, double value, double scale)
{
	html_cell(out, bb_table_cell_number(value, scale).text);
}

void bb_html_percent_cell(FILE *out, double ratio)
{
	if (isfinite(ratio))
		fprintf(out, "<td>%+.2f %%</td>", 100 * (ratio - 1));
	else
		html_cell(out, NULL);
}

void bb_html_begin_table(FILE *out, const char *heads)
{
	fprintf(out, "<div class=scroll tabindex=0><table><tr>%s</tr>\n", heads);
}

void bb_html_end_table(FILE *out)
{
	fputs("</table></div>\n", out);
}

/* A text with its indentation, which HTML drops. */
static void put_indented(FILE *out, const char *text)
{
	for (; *text == ' '; text++)
		fputs("&#160;", out);
	bb_xml_text(out, text);
}

int bb_html_text_table(FILE *out, struct bb_text_table *t)
{
	int rc = t->failed ? -ENOMEM : 0;

	fputs("<div class=scroll tabindex=0><table><tr>", out);
	for (size_t i = 0; i < t->n_columns; i++) {
		fputs(t->columns[i].left ? "<th class=text>" : "<th>", out);
		bb_xml_text(out, t->columns[i].head);
	}
	for (size_t i = 0; i < t->n_cells; i++) {
		if (i % t->n_columns == 0)
			fputs("</tr>\n<tr>", out);
		fputs(t->columns[i % t->n_columns].left ? "<td class=text>" : "<td>", out);
		put_indented(out, t->cells[i]);
	}
	fputs("</tr>\n</table></div>\n", out);
	bb_text_table__done(t);
	return rc;
}
