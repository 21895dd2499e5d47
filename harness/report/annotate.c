/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/annotate.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "report/table_cells.h"

#define MAX_SOURCE	(16u << 20)
#define HOTTEST		20u	/* lines of the short list */
#define HOT_SHARE	0.1	/* of all instructions */
#define CONTEXT		4u	/* lines without code between two with it that are shown, too */

/* A source file as it is now. */
struct source {
	char *text;		/* NULL: not to be used */
	char **lines;		/* by number, from 1; in text */
	size_t n;
};

static void source_done(struct source *s)
{
	free(s->text);
	free(s->lines);
	*s = (struct source){0};
}

/* Cut up in place. 0 or -ENOMEM; a file that cannot be read has no text. */
static int read_source(const char *path, struct source *ret_source)
{
	struct source s = {0};
	size_t len, n = 2;

	*ret_source = s;
	if (bb_read_file(path, MAX_SOURCE, &s.text, &len, NULL))
		return 0;
	for (size_t i = 0; i < len; i++)
		n += s.text[i] == '\n';
	s.lines = calloc(n, sizeof(*s.lines));
	if (!s.lines) {
		free(s.text);
		return -ENOMEM;
	}
	for (char *at = s.text; at && *at;) {
		s.lines[++s.n] = at;
		at = strchr(at, '\n');
		if (at)
			*at++ = '\0';
	}
	*ret_source = s;
	return 0;
}

/* Compilers differ in the blanks that they keep around a line. */
static bool same_words(const char *a, const char *b)
{
	for (;;) {
		while (isspace((unsigned char)*a))
			a++;
		while (isspace((unsigned char)*b))
			b++;
		if (!*a || *a != *b)
			return *a == *b;
		a++;
		b++;
	}
}

/* Does the file still say what the BTF says? `lines`[n] are all of it. */
static bool is_as_built(const struct source *s, const struct bb_counted_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (lines[i].line && lines[i].text[0] &&
		    (lines[i].line > s->n || !same_words(s->lines[lines[i].line], lines[i].text)))
			return false;
	return true;
}

static const char *text_of(const struct bb_counted_line *l, const struct source *s)
{
	if (!l->line)
		return "(the compiler's own)";
	if (l->text[0])
		return l->text;
	return s && s->text && l->line <= s->n ? s->lines[l->line] : "";
}

static void put_line(const struct bb_counted *c, const struct bb_counted_line *l, const struct source *s,
		     const struct bb_annotate_opts *opts, FILE *out)
{
	double runs = (double)c->runs, share = (double)l->instructions / (double)c->instructions;
	const char *colour = !l->executions ? "\033[31m" : share >= HOT_SHARE ? "\033[1;33m" : "";
	bool coloured = opts->colour && colour[0];

	fputs(coloured ? colour : "", out);
	if (l->executions)
		fprintf(out, "%11.2f %5.1f %11.2f", (double)l->instructions / runs, 100 * share, (double)l->executions / runs);
	else
		fprintf(out, "%11s %5s %11s", "0", "0", "#####");
	fprintf(out, " %6u  ", l->line);
	bb_put_code(out, text_of(l, s));
	putc('\n', out);
	fputs(coloured ? "\033[0m" : "", out);
}

/* What stands between two lines with code: shown when it is short and known. */
static void put_between(uint32_t from, uint32_t to, const struct source *s, FILE *out)
{
	if (to <= from + 1)
		return;
	if (!from || !s->text || to - from - 1 > CONTEXT) {
		if (from)
			fprintf(out, "%38s\n", "...");
		return;
	}
	for (uint32_t n = from + 1; n < to && n <= s->n; n++) {
		fprintf(out, "%29s %6u  ", "", n);
		bb_put_code(out, s->lines[n]);
		putc('\n', out);
	}
}

static void put_heads(FILE *out)
{
	fprintf(out, "%11s %5s %11s %6s\n", "insns/run", "%", "execs/run", "line");
}

/* lines[n] are those of one file. */
static int put_file(const struct bb_counted *c, const struct bb_counted_line *lines, size_t n,
		    const struct bb_annotate_opts *opts, FILE *out)
{
	struct source s;
	uint32_t last = 0;

	if (read_source(lines[0].file, &s))
		return -ENOMEM;
	fputs("\n", out);
	bb_put_clean(out, lines[0].file);
	if (!s.text)
		fputs(" (not there any more: only what the BTF keeps of it)", out);
	else if (!is_as_built(&s, lines, n))
		fputs(" (changed since the build: only what the BTF keeps of it)", out);
	if (s.text && !is_as_built(&s, lines, n))
		source_done(&s);
	fputs("\n", out);
	put_heads(out);
	for (size_t i = 0; i < n; i++) {
		put_between(last, lines[i].line, &s, out);
		put_line(c, &lines[i], &s, opts, out);
		last = lines[i].line;
	}
	source_done(&s);
	return 0;
}

static int in_place(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	int rc = 0;

	for (size_t i = 0, n; !rc && i < c->n_lines; i += n) {
		for (n = 1; i + n < c->n_lines && !strcmp(c->lines[i].file, c->lines[i + n].file);)
			n++;
		rc = put_file(c, &c->lines[i], n, opts, out);
	}
	return rc;
}

static int by_instructions(const void *a, const void *b)
{
	const struct bb_counted_line *x = *(const struct bb_counted_line *const *)a, *y = *(const struct bb_counted_line *const *)b;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	return x < y ? -1 : x > y;	/* by file and line */
}

static int hottest_first(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out)
{
	const struct bb_counted_line **order = calloc(c->n_lines + 1, sizeof(*order));
	const char *file = "";

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < c->n_lines; i++)
		order[i] = &c->lines[i];
	qsort(order, c->n_lines, sizeof(*order), by_instructions);
	fputs("\n", out);
	put_heads(out);
	for (size_t i = 0; i < c->n_lines && i < HOTTEST; i++) {
		if (strcmp(file, order[i]->file)) {
			file = order[i]->file;
			bb_put_clean(out, file);
			putc('\n', out);
		}
		put_line(c, order[i], NULL, opts, out);
	}
	free(order);
	return 0;
}

int bb_annotate(const struct bb_counted *c, const struct bb_annotate_opts *opts, FILE *out, struct bb_err *err)
{
	int rc = 0;

	bb_put_clean(out, c->name);
	fprintf(out, ": %" PRIu64 " runs of %.2f instructions; %u in the program, %u blocks, %" PRIu64 " paths\n", c->runs,
		c->runs ? (double)c->instructions / (double)c->runs : 0, c->n_insns, c->n_blocks, c->paths);
	for (size_t i = 0; i < c->n_calls; i++) {
		fprintf(out, "%s%.2f ", i ? ", " : "calls per run: ",
			c->runs ? (double)c->calls[i].calls / (double)c->runs : 0);
		bb_put_clean(out, c->calls[i].name);
	}
	fputs(c->n_calls ? "\n" : "", out);
	if (!c->runs)
		fputs("nothing ran\n", out);
	else if (!c->n_lines)
		fputs("no line information: the object was built without -g, or stripped of its .BTF.ext\n", out);
	else
		rc = opts->hottest ? hottest_first(c, opts, out) : in_place(c, opts, out);
	return rc ? bb_fail_nomem(err) : 0;
}
