/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_TABLE_CELLS_H
#define BB_EXPORT_TABLE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/report.h"

/* The columns of the table for people: a new one is a function and a row in table_cells.c. */

struct bb_table_cell {
	char text[160]; /* UTF-8; empty: there is nothing to say */
};

#define BB_SPILL_ALWAYS 100

struct bb_column {
	const char *head;
	bool left;  /* aligned to the left */
	bool close; /* belongs to the column before it: one blank between them, not two */
	/* goes below a table that is too wide, 1 first; 0 never; or BB_SPILL_ALWAYS */
	int spill;
	void (*cell)(const struct bb_case *c, struct bb_table_cell *cell);
	const char *doc; /* for the legend; NULL: the column explains itself */
};

extern const struct bb_column bb_columns[];
extern const size_t bb_n_columns;

/* The mark before a net cost below zero. */
#define BB_NEGATIVE_MARK "*"

/* "712.4", "1234", "12 345": 4 digits or one decimal, whichever is more; `scale` sets the decimals.
 */
#define BB_WHOLE 1000.0 /* the scale of whole numbers: no decimals */
struct bb_table_cell bb_table_cell_number(double value, double scale);

/* To its own scale; "-" for NAN. */
struct bb_table_cell bb_table_cell_value(double value);

/* A note about events that came much more rarely than the drive asked for; empty if they did not.
 */
struct bb_table_cell bb_table_cell_below_rate(const struct bb_case *c);

/* "10 of 43": instructions that the runs execute; empty where that is not known. */
void bb_executed_cell(const struct bb_case *c, struct bb_table_cell *cell);

/* Columns that a terminal needs for `text`, a character each. */
size_t bb_text_width(const char *text);

/* Text from others: control characters and bytes that are not UTF-8 become '?', so that no terminal
 * obeys them. */
void bb_put_clean(FILE *out, const char *text);
void bb_make_clean(char *text); /* in place */

/* A line of source, likewise, with blanks for its tabs; one that is longer than anybody reads is
 * cut. */
void bb_put_code(FILE *out, const char *text);

#endif
