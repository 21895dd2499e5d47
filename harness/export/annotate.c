/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "export/documents.h"
#include "judge/annotated.h"

/* characters of a line before its source text, without the column execs/run */
#define BEFORE_SOURCE 26u
#define EXECS 12u     /* characters of the column execs/run, which is left out if all are 1 */
#define HOT_SHARE 0.1 /* a line with at least this share of all instructions is coloured */

static void put_heads(const struct bb_counted *c, FILE *out)
{
	fprintf(out, "%11s %5s%s %6s\n", "insns/run", "%",
		bb_counted__is_once(c) ? "" : "   execs/run", "line");
}

static void put_row(const struct bb_counted *c, const struct bb_annotated_row *row,
		    const struct bb_annotate_opts *opts, FILE *out)
{
	const struct bb_counted_line *l = row->counted;
	unsigned before = BEFORE_SOURCE + (bb_counted__is_once(c) ? 0 : EXECS);
	double runs = (double)c->runs,
	       share = l ? (double)l->instructions / (double)c->instructions : 0;
	const char *colour = !l || !opts->colour  ? ""
			     : !l->executions     ? "\033[31m"
			     : share >= HOT_SHARE ? "\033[1;33m"
						  : "";

	if (!row->text) {
		fprintf(out, "%*s\n", before, "...");
		return;
	}
	bb_clean__put_raw(out, colour);
	if (!l)
		fprintf(out, "%*s", before - 9, "");
	else if (l->executions)
		fprintf(out, "%11.*f %5.1f", l->instructions % c->runs ? 2 : 0,
			(double)l->instructions / runs, 100 * share);
	else
		fprintf(out, "%11s %5s", "0", "0");
	if (l && !l->executions)
		fprintf(out, "%*s", before - BEFORE_SOURCE, "#####");
	else if (l && before > BEFORE_SOURCE)
		fprintf(out, " %11.*f", l->executions % c->runs ? 2 : 0,
			(double)l->executions / runs);
	fprintf(out, " %6s  ", row->line ? bb_table_cell_of("%u", row->line).text : "-");
	bb_put_code(out, row->text, opts->width > before ? opts->width - before : 1);
	putc('\n', out);
	bb_clean__put_raw(out, *colour ? "\033[0m" : "");
}

static void put_in_place(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	enum bb_source_state said = BB_SOURCE_AS_BUILT;

	for (size_t i = 0, n; i < c->n_lines; i += n) {
		n = bb_counted__lines_of_file(c, i);
		struct bb_annotated file = bb_annotated__make(&c->lines[i], n);
		fputs("\n", out);
		bb_put_clean(out, file.path);
		if (file.state != said && file.state != BB_SOURCE_AS_BUILT)
			fprintf(out, "\n %s", bb_source_note(file.state));
		fputs("\n", out);
		said = file.state;
		put_heads(c, out);
		for (size_t k = 0; k < file.n; k++)
			/* Rows without text stand for lines that are not shown. Skip them if the
			 * source file is missing or has changed: there would be too many. */
			if (file.rows[k].text || file.state == BB_SOURCE_AS_BUILT)
				put_row(c, &file.rows[k], opts, out);
		bb_annotated__done(&file);
	}
}

static void put_hottest(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	const struct bb_counted_line **order = bb_counted__hottest(c);
	const char *file = "";

	fputs("\n", out);
	put_heads(c, out);
	for (size_t i = 0; i < c->n_lines && i < opts->n_hottest; i++) {
		const struct bb_counted_line *l = order[i];
		const struct bb_annotated_row row = {l, l->line, bb_counted_text(l)};

		if (strcmp(file, l->file)) {
			file = l->file;
			bb_put_clean(out, file);
			putc('\n', out);
		}
		put_row(c, &row, opts, out);
	}
	free(order);
}

void bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	const struct bb_doc_look look = {.width = opts->width, .wrap = opts->width != SIZE_MAX};
	struct bb_doc d = {0};
	double mean = c->runs ? (double)c->instructions / (double)c->runs : 0;
	size_t n = 0;

	bb_doc__add(&d, BB_DOC_PARAGRAPH, NULL,
		    "%s/%s: %.*f instructions per run, over %" PRIu64 " run%s; %u in the program, "
		    "%u block%s, %" PRIu64 " path%s",
		    c->scenario, c->variant, mean == round(mean) ? 0 : 2, mean, c->runs,
		    bb_plural(c->runs), c->n_insns, c->n_blocks, bb_plural(c->n_blocks), c->paths,
		    bb_plural(c->paths));
	for (size_t i = 0; i < c->n_calls && c->runs; i++) {
		double calls = (double)c->calls[i].calls / (double)c->runs;

		if (!c->calls[i].calls)
			continue;
		if (!n++)
			bb_doc__add(&d, BB_DOC_PARAGRAPH, "calls per run", "%s", "");
		bb_doc__append(&d, "%s%.*f %s", n > 1 ? ", " : "", calls == round(calls) ? 0 : 2,
			       calls, c->calls[i].name);
	}
	bb_doc__text(&d, &look, out);
	bb_doc__done(&d);
	if (!c->runs)
		fputs("nothing ran\n", out);
	else if (!c->n_lines)
		fputs("no line information: the object was built without -g, or stripped of its "
		      ".BTF.ext\n",
		      out);
	else if (opts->n_hottest)
		put_hottest(c, opts, out);
	else
		put_in_place(c, opts, out);
}
