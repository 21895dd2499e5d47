/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_lines.h"

#include "export/documents.h"
#include "html/html_parts.h"
#include "base/text.h"

#define OPEN_TABLES 3u /* when there are more, they are folded away */

static int put_lines(FILE *out, const struct bb_by_line *b, const char *flame, bool open)
{
	struct bb_doc d = {0};
	char sentence[1000];
	int rc;

	bb_by_line__sentence(b, sentence, sizeof(sentence));
	fprintf(out, "<details%s><summary><b>", open ? " open" : "");
	bb_xml_text(out, b->timed->name);
	fprintf(out, "</b>: %s ns a run; ", bb_table_cell_value(b->program.value).text);
	bb_xml_text(out, sentence);
	fputs("</summary>\n", out);
	bb_by_line__cold_sentence(b, sentence, sizeof(sentence));
	if (sentence[0]) {
		fputs("<p>", out);
		bb_xml_text(out, sentence);
		fputs("</p>\n", out);
	}
	if (flame)
		fputs(flame, out);
	bb_doc_by_line_table(b, false, &d);
	rc = bb_html_put(&d, out);
	fputs("</details>\n", out);
	return rc;
}

int bb_html_lines(FILE *out, const struct bb_report *r, char *const *flames)
{
	int rc = 0;

	fputs("<p class=faint>Nanoseconds of one run, by source line and call: the differences "
	      "between runs that end at one point and at the next. Less than 3 ns cannot be told "
	      "from nothing.</p>\n",
	      out);
	for (size_t i = 0; !rc && i < r->n_timed; i++) {
		struct bb_by_line lines;

		rc = bb_by_line__make(r, &r->timed[i], &lines);
		if (rc)
			return rc;
		rc = put_lines(out, &lines, flames ? flames[i] : NULL, r->n_timed <= OPEN_TABLES);
		bb_by_line__done(&lines);
	}
	return rc;
}
