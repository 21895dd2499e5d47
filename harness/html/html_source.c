/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "html/html_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/documents.h"
#include "html/html_parts.h"
#include "judge/annotated.h"

#define HOTTEST 5u       /* lines that are named above the source */
#define HOT_SHARE 0.1    /* of all instructions */
#define OPEN_PROGRAMS 2u /* more than these are closed until they are asked for */

/* A program, and what its lines are called on the page. */
struct program {
	const struct bb_counted *counted;
	size_t page, nth;
};

static double per_run(const struct program *p, uint64_t n)
{
	return (double)n / (double)p->counted->runs;
}

static double share_of(const struct program *p, const struct bb_counted_line *l)
{
	return (double)l->instructions / (double)p->counted->instructions;
}

static void put_line_name(FILE *out, const struct program *p, const struct bb_counted_line *l)
{
	fprintf(out, "l%zu-%zu-%td", p->page, p->nth, l - p->counted->lines);
}

static void put_counted_row(FILE *out, const struct program *p, const struct bb_annotated_row *row)
{
	const struct bb_counted_line *l = row->counted;
	double share = share_of(p, l);

	fputs("<tr id=", out);
	put_line_name(out, p, l);
	if (l->executions)
		fprintf(out, "%s><td>%.2f<td class=share style='--share:%.0f%%'>%.1f<td>%.2f",
			share >= HOT_SHARE ? " class=hot" : "", per_run(p, l->instructions),
			100 * share, 100 * share, per_run(p, l->executions));
	else
		fputs(" class=never><td>0<td class=share>0<td>#####", out);
	fprintf(out, "<td>%u<td class=src>", row->line);
	bb_xml_text(out, row->text);
	fputs("</tr>\n", out);
}

static void put_row(FILE *out, const struct program *p, const struct bb_annotated_row *row)
{
	if (row->counted) {
		put_counted_row(out, p, row);
	} else if (row->text) {
		fprintf(out, "<tr><td><td><td><td>%u<td class=src>", row->line);
		bb_xml_text(out, row->text);
		fputs("</tr>\n", out);
	} else {
		fputs("<tr><td><td><td><td>…<td></tr>\n", out);
	}
}

/* lines[first] is the first of its file; *ret_n are of the same. */
static int put_file(FILE *out, const struct program *p, size_t first, size_t *ret_n)
{
	struct bb_annotated file;

	*ret_n = bb_counted__lines_of_file(p->counted, first);
	if (bb_annotated__make(&p->counted->lines[first], *ret_n, &file))
		return -ENOMEM;
	fputs("<p><b>", out);
	bb_xml_text(out, file.path);
	fprintf(out,
		"</b>%s</p>\n" BB_HTML_BEGIN_TABLE " class=code><tr><th>insns/run<th>%%<th>execs/"
		"run<th>line<th "
		"class=text>source</tr>\n",
		bb_source_note(file.state));
	for (size_t i = 0; i < file.n; i++)
		put_row(out, p, &file.rows[i]);
	fputs(BB_HTML_END_TABLE, out);
	bb_annotated__done(&file);
	return 0;
}

static int put_hottest(FILE *out, const struct program *p)
{
	const struct bb_counted_line **order = bb_counted__hottest(p->counted);

	if (!order)
		return -ENOMEM;
	fputs("<p>Hottest lines:", out);
	for (size_t i = 0; i < p->counted->n_lines && i < HOTTEST && order[i]->instructions; i++) {
		fprintf(out, "%s <a href='#", i ? "," : "");
		put_line_name(out, p, order[i]);
		fputs("'>", out);
		bb_xml_text(out, basename(order[i]->file));
		fprintf(out, ":%u</a> %.1f %%", order[i]->line, 100 * share_of(p, order[i]));
	}
	fputs(".</p>\n", out);
	free(order);
	return 0;
}

static int put_lines(FILE *out, const struct program *p)
{
	const struct bb_counted *c = p->counted;
	int rc;

	if (!c->runs || !c->n_lines) {
		fputs(c->runs ? "<p>No line information: the object was built without -g, or "
				"stripped of its .BTF.ext.</p>\n"
			      : "<p>Nothing ran.</p>\n",
		      out);
		return 0;
	}
	rc = put_hottest(out, p);
	for (size_t i = 0, n; !rc && i < c->n_lines; i += n)
		rc = put_file(out, p, i, &n);
	return rc;
}

static void put_calls(FILE *out, const struct program *p)
{
	const struct bb_counted *c = p->counted;

	if (!c->n_calls || !c->runs)
		return;
	fputs("<p>Calls per run: ", out);
	for (size_t i = 0; i < c->n_calls; i++) {
		fprintf(out, "%s%.2f <code>", i ? ", " : "", per_run(p, c->calls[i].calls));
		bb_xml_text(out, c->calls[i].name);
		fputs("</code>", out);
	}
	fputs(".</p>\n", out);
}

static int put_program(FILE *out, const struct program *p, bool open)
{
	const struct bb_counted *c = p->counted;
	int rc;

	fprintf(out, "<details%s><summary><b>", open ? " open" : "");
	bb_xml_text(out, c->name);
	fputs("</b>: ", out);
	if (c->runs)
		fprintf(out, "%.2f instructions a run over %" PRIu64 " runs; ",
			per_run(p, c->instructions), c->runs);
	fprintf(out, "%u in the program, %u blocks, %" PRIu64 " paths</summary>\n", c->n_insns,
		c->n_blocks, c->paths);
	put_calls(out, p);
	rc = put_lines(out, p);
	fputs("</details>\n", out);
	return rc;
}

int bb_html_source(FILE *out, const struct bb_report *r, size_t page)
{
	struct bb_doc d = {0};
	int rc;

	fputs("<p class=faint>Instructions of a run: exact counts, the same in every run of a "
	      "case; what helpers execute themselves is not in them. ##### marks lines that were "
	      "never executed.</p>\n",
	      out);
	bb_doc_counted(r, &d);
	rc = bb_html_put(&d, out);
	for (size_t i = 0; !rc && i < r->n_counted; i++)
		rc = put_program(out, &(struct program){&r->counted[i], page, i},
				 r->n_counted <= OPEN_PROGRAMS);
	return rc;
}
