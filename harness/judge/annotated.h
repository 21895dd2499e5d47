/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/* The lines of a source file in order, with the number of executed instructions. The texts of lines
 * with code come from the BTF. The texts of a few lines without code come from the source file, if
 * it is in the current git work tree and has not changed since the build. */
struct bb_annotated_row {
	const struct bb_counted_line *counted; /* NULL for a line without code */
	uint32_t line;                         /* 0 for instructions that the compiler added */
	/* NULL if the row stands for lines without code that are not shown */
	const char *text;
};

enum bb_source_state {
	BB_SOURCE_AS_BUILT,
	BB_SOURCE_GONE,
	BB_SOURCE_ELSEWHERE, /* not in our git work tree, or not source code, so not read */
	BB_SOURCE_CHANGED,
};

struct bb_annotated {
	const char *path;
	enum bb_source_state state;
	struct bb_annotated_row *rows;
	size_t n;
	char *source; /* memory of the texts that come from the source file */
};

/* Makes the annotation of one file from its lines[n], n >= 1. Borrows the lines and their texts. */
struct bb_annotated bb_annotated__make(const struct bb_counted_line *lines, size_t n);
void bb_annotated__done(struct bb_annotated *file);

/* Returns a remark to print after the path of the source file, or "". */
const char *bb_source_note(enum bb_source_state state);

/* Returns the line's text, or a remark in parentheses for instructions that the compiler added. */
const char *bb_counted_text(const struct bb_counted_line *line);

/* Returns how many successive lines, from lines[first] on, belong to one file. */
size_t bb_counted__lines_of_file(const struct bb_counted *c, size_t first);

/* True if every line is executed exactly once in each run. */
bool bb_counted__is_once(const struct bb_counted *c);

/* Returns the lines sorted by executed instructions, most first. free() the array. */
const struct bb_counted_line **bb_counted__hottest(const struct bb_counted *c);
