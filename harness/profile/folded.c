/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/folded.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/parse.h"

#define MAX_FILE	(64u << 20)
#define MAX_WEIGHT	(1ULL << 53)

struct line {
	const char *stack;
	uint64_t weight;
};

struct lines {
	struct line *v;
	size_t n, size;
	uint64_t weight;
};

/* Cuts the line in two. What is wrong with it, or NULL. */
static const char *parse_line(char *text, struct line *ret_line)
{
	char *space = strrchr(text, ' ');
	size_t frames = 1;

	if (!space || space == text)
		return "not 'frame;frame;... weight'";
	if (bb_parse_u64(space + 1, &ret_line->weight))
		return "the weight at its end is no whole number";
	*space = '\0';
	for (const char *c = text; *c; c++)
		frames += *c == ';';
	if (frames > BB_FOLDED_FRAMES)
		return "a stack of too many frames";
	ret_line->stack = text;
	return NULL;
}

static int add_line(struct lines *lines, char *text, const char *path, size_t number, struct bb_err *err)
{
	struct line line;
	const char *wrong;

	if (!*text)
		return 0;
	wrong = parse_line(text, &line);
	if (!wrong && (line.weight > MAX_WEIGHT || lines->weight + line.weight > MAX_WEIGHT))
		return bb_fail(err, -EFBIG, "%s:%zu: the weights add up to more than 2^53", path, number);
	if (wrong)
		return bb_fail(err, -EINVAL, "%s:%zu: not folded stacks: %s", path, number, wrong);
	if (bb_grow((void **)&lines->v, lines->n, &lines->size, sizeof(*lines->v)))
		return bb_fail_nomem(err);
	lines->v[lines->n++] = line;
	lines->weight += line.weight;
	return 0;
}

/* Cuts text[len] up. */
static int split(char *text, size_t len, const char *path, struct lines *lines, struct bb_err *err)
{
	char *end = text + len;
	size_t number = 1;
	int rc = 0;

	if (strlen(text) != len)
		return bb_fail(err, -EINVAL, "%s: not folded stacks: there is a NUL byte in it", path);
	for (char *next; !rc && text < end; text = next, number++) {
		char *newline = strchr(text, '\n');

		next = newline ? newline + 1 : end;
		if (newline)
			*newline = '\0';
		if (newline && newline > text && newline[-1] == '\r')
			newline[-1] = '\0';
		rc = add_line(lines, text, path, number, err);
	}
	return rc;
}

/* A frame's end comes before all other characters: stacks that begin with the same frames are then neighbours. */
static int by_frames(const void *a, const void *b)
{
	const char *x = ((const struct line *)a)->stack, *y = ((const struct line *)b)->stack;

	for (; *x && *x == *y; x++)
		y++;
	if (*x == *y)
		return 0;
	if (!*x || !*y)
		return *x ? 1 : -1;
	if (*x == ';' || *y == ';')
		return *x == ';' ? -1 : 1;
	return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
}

static enum bb_frame_kind kind_of(const char *frame, size_t *len, bool is_first)
{
	if (is_first)
		return BB_FRAME_COMM;
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		const char *suffix = bb_frame_suffixes[kind];
		size_t n = suffix ? strlen(suffix) : 0;

		if (n && *len > n && !memcmp(frame + *len - n, suffix, n)) {
			*len -= n;
			return (enum bb_frame_kind)kind;
		}
	}
	if (*len == strlen(BB_NOTE_OFF_CPU) && !memcmp(frame, BB_NOTE_OFF_CPU, *len))
		return BB_FRAME_OFF_CPU;
	if ((*len == strlen(BB_NOTE_CUT) && !memcmp(frame, BB_NOTE_CUT, *len)) ||
	    (*len == strlen(BB_NOTE_LOST) && !memcmp(frame, BB_NOTE_LOST, *len)))
		return BB_FRAME_NOTE;
	return BB_FRAME_USER;
}

static int add_stack(struct bb_tree *t, const struct line *line)
{
	uint32_t node = 0, name;

	for (const char *at = line->stack, *end; at; at = *end ? end + 1 : NULL) {
		enum bb_frame_kind kind;
		size_t len;

		end = strchrnul(at, ';');
		len = (size_t)(end - at);
		kind = kind_of(at, &len, at == line->stack);
		if (bb_names__add(&t->names, at, len, &name) || bb_tree__next_child(t, node, name, kind, BB_NO_ID, &node))
			return -ENOMEM;
	}
	t->nodes[node].self += line->weight;
	return 0;
}

static int make_tree(struct lines *lines, struct bb_tree *ret_tree)
{
	struct bb_tree t;
	int rc = bb_tree__init(&t);

	if (lines->n)
		qsort(lines->v, lines->n, sizeof(*lines->v), by_frames);
	for (size_t i = 0; !rc && i < lines->n; i++)
		rc = add_stack(&t, &lines->v[i]);
	if (rc) {
		bb_tree__done(&t);
		return rc;
	}
	bb_tree__sum(&t);
	*ret_tree = t;
	return 0;
}

int bb_folded__read(const char *path, struct bb_tree *ret_tree, struct bb_err *err)
{
	struct lines lines = {0};
	char *text;
	size_t len;
	int rc = bb_read_file(path, MAX_FILE, &text, &len, err);

	if (rc)
		return rc;
	rc = split(text, len, path, &lines, err);
	if (!rc && make_tree(&lines, ret_tree))
		rc = bb_fail_nomem(err);
	free(lines.v);
	free(text);
	return rc;
}
