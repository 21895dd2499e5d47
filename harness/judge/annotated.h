/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_JUDGE_ANNOTATED_H
#define BB_JUDGE_ANNOTATED_H

#include "report/report.h"

/*
 * A source file with the counts of its lines, in their order. The text of a line is the BTF's. The
 * few lines without code between two that have some are the source file's, if that is in this tree
 * and still has the lines that the BTF has.
 */
struct bb_annotated_row {
	const struct bb_counted_line *counted; /* NULL: a line without code */
	uint32_t line;                         /* 0: the compiler's own instructions */
	const char *text;                      /* NULL: here are lines that are not shown */
};

enum bb_source_state {
	BB_SOURCE_AS_BUILT,
	BB_SOURCE_GONE,
	BB_SOURCE_ELSEWHERE, /* where bb_source_file__read() does not look */
	BB_SOURCE_CHANGED,
};

struct bb_annotated {
	const char *path;
	enum bb_source_state state;
	struct bb_annotated_row *rows;
	size_t n;
	char *source; /* texts that are not the BTF's */
};

/* lines[n], n >= 1, are those of one file; borrowed, as their texts are. 0 or -ENOMEM;
 * bb_annotated__done() it. */
int bb_annotated__make(const struct bb_counted_line *lines, size_t n,
		       struct bb_annotated *ret_file);
void bb_annotated__done(struct bb_annotated *file);

/* A remark on the source beside its path: "" when it is as it was built. */
const char *bb_source_note(enum bb_source_state state);

/* The text of a line by the BTF alone, without its file. */
const char *bb_counted_text(const struct bb_counted_line *line);

/* How many lines from lines[first] on are of the same file. */
size_t bb_counted__lines_of_file(const struct bb_counted *c, size_t first);

/* The lines that execute most instructions, the most first; free() it. NULL when out of memory. */
const struct bb_counted_line **bb_counted__hottest(const struct bb_counted *c);

#endif
