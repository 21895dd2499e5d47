/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_TEXT_TABLE_H
#define BB_EXPORT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/*
 * A table for people: cells of text, row by row, aligned by their width on a terminal (by the
 * width of UTF-8 characters; no control character of a cell reaches the terminal). Running out of
 * memory sticks and is told at the end.
 */
struct bb_text_column {
	const char *head;
	bool left; /* aligned to the left; numbers are not */
};

struct bb_text_table {
	const struct bb_text_column *columns;
	size_t n_columns;
	char **cells;
	size_t n_cells;
	bool failed;
};

/* The text for a missing value: an empty cell lets the eye slip into the next column. */
#define BB_TEXT_ABSENT "-"

/* The columns are the caller's and outlive the table. */
void bb_text_table__init(struct bb_text_table *t, const struct bb_text_column *columns,
			 size_t n_columns);

/* The next cell; rows end by themselves. An empty text stays empty. */
void bb_text_table__add(struct bb_text_table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void bb_text_table__add_text(struct bb_text_table *t, const char *text);

/* Heads and whole rows behind `indent` blanks; no line ends in blanks. 0 or -ENOMEM; `out` keeps
 * its own errors. */
int bb_text_table__print(const struct bb_text_table *t, int indent, FILE *out);

void bb_text_table__done(struct bb_text_table *t);

#endif
