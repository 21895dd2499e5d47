/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/annotated.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"

#define MAX_SOURCE (16u << 20)
#define CONTEXT 4u /* lines without code between two with it that are shown, too */

/* A source file as it is now. */
struct source {
	char *text;   /* NULL: not to be used */
	char **lines; /* by number, from 1; in text */
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

const char *bb_counted_text(const struct bb_counted_line *l)
{
	return l->line ? l->text : "(the compiler's own)";
}

static const char *text_of(const struct bb_counted_line *l, const struct source *s)
{
	return l->line && !l->text[0] && s->text && l->line <= s->n ? s->lines[l->line]
								    : bb_counted_text(l);
}

/* What stands between two lines with code: shown when it is short and known. */
static void add_between(struct bb_annotated *file, uint32_t from, uint32_t to,
			const struct source *s)
{
	if (!from || to <= from + 1)
		return;
	if (!s->text || to - from - 1 > CONTEXT)
		file->rows[file->n++] = (struct bb_annotated_row){.line = from + 1};
	else
		for (uint32_t line = from + 1; line < to && line <= s->n; line++)
			file->rows[file->n++] = (struct bb_annotated_row){.line = line,
									  .text = s->lines[line]};
}

int bb_annotated__make(const struct bb_counted_line *lines, size_t n, struct bb_annotated *ret_file)
{
	struct bb_annotated file = {.path = lines[0].file, .state = BB_SOURCE_AS_BUILT};
	struct source s;
	uint32_t last = 0;

	if (read_source(file.path, &s))
		return -ENOMEM;
	if (!s.text)
		file.state = BB_SOURCE_GONE;
	else if (!is_as_built(&s, lines, n))
		file.state = BB_SOURCE_CHANGED;
	if (file.state == BB_SOURCE_CHANGED)
		source_done(&s);
	file.rows = calloc(n * (1 + CONTEXT), sizeof(*file.rows));
	if (!file.rows) {
		source_done(&s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		add_between(&file, last, lines[i].line, &s);
		file.rows[file.n++] = (struct bb_annotated_row){&lines[i], lines[i].line,
								text_of(&lines[i], &s)};
		last = lines[i].line;
	}
	free(s.lines);
	file.source = s.text;
	*ret_file = file;
	return 0;
}

void bb_annotated__done(struct bb_annotated *file)
{
	free(file->rows);
	free(file->source);
	*file = (struct bb_annotated){0};
}

const char *bb_source_note(enum bb_source_state state)
{
	static const char *const notes[] = {
		[BB_SOURCE_AS_BUILT] = "",
		[BB_SOURCE_GONE] = " (not there any more: only what the BTF keeps of it)",
		[BB_SOURCE_CHANGED] = " (changed since the build: only what the BTF keeps of it)",
	};

	return notes[state];
}

size_t bb_counted__lines_of_file(const struct bb_counted *c, size_t first)
{
	size_t n = 1;

	while (first + n < c->n_lines && !strcmp(c->lines[first].file, c->lines[first + n].file))
		n++;
	return n;
}

static int by_instructions(const void *a, const void *b)
{
	const struct bb_counted_line *x = *(const struct bb_counted_line *const *)a,
				     *y = *(const struct bb_counted_line *const *)b;

	if (x->instructions != y->instructions)
		return x->instructions > y->instructions ? -1 : 1;
	return x < y ? -1 : x > y; /* by file and line */
}

const struct bb_counted_line **bb_counted__hottest(const struct bb_counted *c)
{
	const struct bb_counted_line **order = calloc(c->n_lines + 1, sizeof(*order));

	for (size_t i = 0; order && i < c->n_lines; i++)
		order[i] = &c->lines[i];
	if (order)
		qsort(order, c->n_lines, sizeof(*order), by_instructions);
	return order;
}
