/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/annotate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clean.h"
#include "export/table_cells.h"
#include "judge/annotated.h"

#define HOTTEST 20u   /* lines of the short list */
#define HOT_SHARE 0.1 /* of all instructions */

static void put_line(const struct bb_counted *c, const struct bb_counted_line *l, const char *text,
		     const struct bb_annotate_opts *opts, FILE *out)
{
	double runs = (double)c->runs, share = (double)l->instructions / (double)c->instructions;
	const char *colour = !l->executions ? "\033[31m" : share >= HOT_SHARE ? "\033[1;33m" : "";
	bool coloured = opts->colour && colour[0];

	bb_clean__put_raw(out, coloured ? colour : "");
	if (l->executions)
		fprintf(out, "%11.2f %5.1f %11.2f", (double)l->instructions / runs, 100 * share,
			(double)l->executions / runs);
	else
		fprintf(out, "%11s %5s %11s", "0", "0", "#####");
	fprintf(out, " %6u  ", l->line);
	bb_put_code(out, text);
	putc('\n', out);
	bb_clean__put_raw(out, coloured ? "\033[0m" : "");
}

static void put_heads(FILE *out)
{
	fprintf(out, "%11s %5s %11s %6s\n", "insns/run", "%", "execs/run", "line");
}

static void put_uncounted(const struct bb_annotated_row *row, FILE *out)
{
	if (!row->text) {
		fprintf(out, "%38s\n", "...");
		return;
	}
	fprintf(out, "%29s %6u  ", "", row->line);
	bb_put_code(out, row->text);
	putc('\n', out);
}

/* lines[n] are those of one file. */
static int put_file(const struct bb_counted *c, const struct bb_counted_line *lines, size_t n,
		    const struct bb_annotate_opts *opts, FILE *out)
{
	struct bb_annotated file;

	if (bb_annotated__make(lines, n, &file))
		return -ENOMEM;
	fputs("\n", out);
	bb_put_clean(out, file.path);
	fprintf(out, "%s\n", bb_source_note(file.state));
	put_heads(out);
	for (size_t i = 0; i < file.n; i++) {
		if (file.rows[i].counted)
			put_line(c, file.rows[i].counted, file.rows[i].text, opts, out);
		else
			put_uncounted(&file.rows[i], out);
	}
	bb_annotated__done(&file);
	return 0;
}

static int in_place(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	int rc = 0;

	for (size_t i = 0, n; !rc && i < c->n_lines; i += n) {
		n = bb_counted__lines_of_file(c, i);
		rc = put_file(c, &c->lines[i], n, opts, out);
	}
	return rc;
}

static int hottest_first(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	const struct bb_counted_line **order = bb_counted__hottest(c);
	const char *file = "";

	if (!order)
		return -ENOMEM;
	fputs("\n", out);
	put_heads(out);
	for (size_t i = 0; i < c->n_lines && i < HOTTEST; i++) {
		if (strcmp(file, order[i]->file)) {
			file = order[i]->file;
			bb_put_clean(out, file);
			putc('\n', out);
		}
		put_line(c, order[i], bb_counted_text(order[i]), opts, out);
	}
	free(order);
	return 0;
}

int bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out,
		struct bb_err *err)
{
	int rc = 0;

	bb_put_clean(out, c->name);
	fprintf(out,
		": %" PRIu64 " runs of %.2f instructions; %u in the program, %u blocks, %" PRIu64
		" paths\n",
		c->runs, c->runs ? (double)c->instructions / (double)c->runs : 0, c->n_insns,
		c->n_blocks, c->paths);
	for (size_t i = 0; i < c->n_calls; i++) {
		fprintf(out, "%s%.2f ", i ? ", " : "calls per run: ",
			c->runs ? (double)c->calls[i].calls / (double)c->runs : 0);
		bb_put_clean(out, c->calls[i].name);
	}
	fputs(c->n_calls ? "\n" : "", out);
	if (!c->runs)
		fputs("nothing ran\n", out);
	else if (!c->n_lines)
		fputs("no line information: the object was built without -g, or stripped of its "
		      ".BTF.ext\n",
		      out);
	else
		rc = opts->hottest ? hottest_first(c, opts, out) : in_place(c, opts, out);
	return rc ? bb_fail_nomem(err) : 0;
}
