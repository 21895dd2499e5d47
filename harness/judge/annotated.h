/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "report/report.h"

/*
 * The lines of a source file in order, with their counts. The texts of lines with code come from
 * the BTF. A few lines without code between two lines with code come from the source file, if the
 * file is in the current git work tree and still has the lines of the BTF.
 */
struct bb_annotated_row {
	const struct bb_counted_line *counted; /* NULL: a line without code */
	uint32_t line;                         /* 0: instructions that the compiler added */
	/* text of the line; NULL: this row stands for lines without code that are left out */
	const char *text;
};

enum bb_source_state {
	BB_SOURCE_AS_BUILT,
	BB_SOURCE_GONE,
	BB_SOURCE_ELSEWHERE, /* not a source file in our git work tree, so we do not read it */
	BB_SOURCE_CHANGED,
};

struct bb_annotated {
	const char *path;
	enum bb_source_state state;
	struct bb_annotated_row *rows;
	size_t n;
	char *source; /* owns the texts that come from the source file */
};

/* Makes the annotation of one file from its lines[n], n >= 1. Borrows the lines and their texts.
 * Free with bb_annotated__done(). */
struct bb_annotated bb_annotated__make(const struct bb_counted_line *lines, size_t n);
void bb_annotated__done(struct bb_annotated *file);

/* Returns a remark to print after the path of a source file; "" for BB_SOURCE_AS_BUILT. */
const char *bb_source_note(enum bb_source_state state);

/* Returns the text of a line from the BTF. For instructions that the compiler added, returns a
 * remark in parentheses. */
const char *bb_counted_text(const struct bb_counted_line *line);

/* Returns how many successive lines from lines[first] on are of the same file. */
size_t bb_counted__lines_of_file(const struct bb_counted *c, size_t first);

/* True if every line is executed exactly once in each run. */
bool bb_counted__is_once(const struct bb_counted *c);

/* Returns the lines sorted by executed instructions, most first; free() the array. */
const struct bb_counted_line **bb_counted__hottest(const struct bb_counted *c);
