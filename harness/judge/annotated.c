/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/annotated.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "judge/source_file.h"

#define CONTEXT 4u /* lines without code between two with it that are shown, too */

/* A source file as it is now. */
struct source {
	char *text; /* NULL: not to be used */
	size_t n;
	char **lines; /* by number, from 1; in text; lines[n + 1] */
};

static void source_done(struct source *s)
{
	free(s->text);
	free(s->lines);
	*s = (struct source){0};
}

/* Cut up in place. 0 or -errno. */
static int read_source(const char *path, struct source *ret_source)
{
	struct source s = {0};
	size_t n = 2;
	int rc = bb_source_file__read(path, &s.text);

	*ret_source = s;
	if (rc)
		return rc;
	for (const char *at = s.text; *at; at++)
		n += *at == '\n';
	s.lines = calloc(n, sizeof(*s.lines));
	if (!s.lines) {
		source_done(&s);
		*ret_source = s;
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

/* A line that says nothing is found in every file. */
static bool says_something(const char *text)
{
	return text[strspn(text, " \t\r\n\v\f")];
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

/* The lines of the file between two with code: shown when they are few and the BTF has the text of
 * the two, which is_as_built() has found there. */
static void add_between(struct bb_annotated *file, const struct bb_counted_line *a,
			const struct bb_counted_line *b, const struct source *s)
{
	uint32_t from = a->line, to = b->line;

	if (!from || to <= from + 1)
		return;
	if (!s->text || to - from - 1 > CONTEXT || !says_something(a->text) ||
	    !says_something(b->text))
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
	int rc = read_source(file.path, &s);

	if (rc == -ENOMEM)
		return rc;
	if (!s.text)
		file.state = rc == -EXDEV ? BB_SOURCE_ELSEWHERE : BB_SOURCE_GONE;
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
		if (i)
			add_between(&file, &lines[i - 1], &lines[i], &s);
		file.rows[file.n++] = (struct bb_annotated_row){&lines[i], lines[i].line,
								bb_counted_text(&lines[i])};
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
		[BB_SOURCE_ELSEWHERE] = " (outside of this tree: only what the BTF keeps of it)",
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
