/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_TABLE_CELLS_H
#define BB_EXPORT_TABLE_CELLS_H

#include "base/std.h"
#include "export/document.h"
#include "report/report.h"

/* How much a reader wants to know; BB_SENTENCE: of a scenario with one program, after its net cost.
 */
enum bb_detail {
	BB_SHORT = 1,
	BB_DETAILS = 2,
	BB_BOTH = BB_SHORT | BB_DETAILS,
	BB_SENTENCE = 4,
	BB_ALL = BB_BOTH | BB_SENTENCE,
};

/* The columns of a case: a new one is a row in table_cells.c, and a function if it is more than an
 * estimate of the summary. */
struct bb_case_column {
	struct bb_doc_column as;
	enum bb_detail in;
	struct bb_table_cell (*cell)(const struct bb_case *c); /* NULL: */
	size_t estimate;                                       /* the offset in struct bb_summary */
	enum { BB_A_TIME, BB_A_SHARE, BB_A_COUNT } is;
	const char *unit; /* in a sentence, behind the figure; NULL: none */
};

extern const struct bb_case_column bb_case_columns[];
extern const size_t bb_n_case_columns;

struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column);

/* Half of the 95 % interval, its longer side, in the decimals of the latency; "": there is none. */
struct bb_table_cell bb_net_half_cell(const struct bb_case *c);
struct bb_table_cell bb_latency_half_cell(const struct bb_case *c);

/* The floor that makes latency less floor the net cost: net is estimated load by load, so that the
 * floor's own estimate, over all its loads, differs a little. */
struct bb_table_cell bb_floor_cell(const struct bb_case *c);

/* The mark before a net cost below zero. */
#define BB_NEGATIVE_MARK "*"

/* "712.4", "1234", "12 345": 4 digits or one decimal, whichever is more; `scale` sets the decimals.
 */
#define BB_WHOLE 1000.0 /* the scale of whole numbers: no decimals */
struct bb_table_cell bb_table_cell_number(double value, double scale);

/* To its own scale; "-" for NAN. */
struct bb_table_cell bb_table_cell_value(double value);

/* "[1.2, 3.4]" in the decimals of the value; empty: there is no interval. */
struct bb_table_cell bb_table_cell_interval(const struct bb_estimate *e);

/* Any text; what is too long is cut. */
struct bb_table_cell bb_table_cell_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

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
