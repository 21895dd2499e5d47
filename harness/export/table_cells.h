/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "report/report.h"

/* How much detail a document shows; for a column, in which documents it is shown. BB_SENTENCE: in
 * the sentence about a scenario with one program, after the net cost. */
enum bb_detail {
	BB_SHORT = 1,
	BB_DETAILS = 2,
	BB_BOTH = BB_SHORT | BB_DETAILS,
	BB_SENTENCE = 4,
	BB_ALL = BB_BOTH | BB_SENTENCE,
	BB_SHORT_NO_NET = 8, /* only in short tables whose cases have no net cost */
};

/* A column of the tables of cases. To add a column, add a row in table_cells.c. The column also
 * needs a function, unless it shows an estimate of the summary. */
struct bb_case_column {
	struct bb_doc_column as;
	enum bb_detail in;
	struct bb_table_cell (*cell)(
		const struct bb_case *c); /* NULL: the column shows `estimate` */
	size_t estimate;                  /* offset of a struct bb_estimate in struct bb_summary */
	enum { BB_A_TIME, BB_A_SHARE, BB_A_COUNT, BB_A_RATE } is;
};

extern const struct bb_case_column bb_case_columns[];
extern const size_t bb_n_case_columns;

struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column);

/* Return the figure after "+-": the distance from the net cost or the latency to the farther end of
 * its 95 % interval, with as many decimals as the latency has. Empty if there is no interval. */
struct bb_table_cell bb_net_half_cell(const struct bb_case *c);
struct bb_table_cell bb_latency_half_cell(const struct bb_case *c);

/* Returns the latency minus the net cost or, if the case has no net cost, the floor. The floor's
 * own estimate differs a little from latency minus net: it is over all loads of the floor, while
 * net is estimated load by load. */
struct bb_table_cell bb_floor_cell(const struct bb_case *c);

/* Returns "88 of 272": how many of the program's instructions the runs execute. Empty if that was
 * not counted. */
struct bb_table_cell bb_executed_cell(const struct bb_case *c);

/* Returns a share in percent: "53", "2.7", "0.04"; "< 0.01" if it is smaller but not 0. Empty if it
 * is not finite. */
struct bb_table_cell bb_table_cell_percent(double share);

/* Stands before a net cost for which bb_net_is_near_0(). */
#define BB_NEAR_0_MARK "*"

/* True if the net cost is below 0, or not larger than the longer side of its interval. */
bool bb_net_is_near_0(const struct bb_case *c);

/* Returns the net cost, with the mark if it is near 0. */
struct bb_table_cell bb_net_cell(const struct bb_case *c);

/* Returns a number as text. It has two decimals if `scale` is below 10, one if `scale` is below
 * 1000, otherwise none: "9.87", "712.4", "1234". From 10 000 on it has no decimals, and blanks
 * between groups of digits: "12 345". Empty if the value is not finite. */
#define BB_WHOLE 1000.0 /* scale of whole numbers, which have no decimals */
struct bb_table_cell bb_table_cell_number(double value, double scale);

/* True if a time is shown in ms. */
bool bb_is_shown_in_ms(double ns);

/* Returns a time, in ns, as bb_table_cell_number() does. If `scale` is a millisecond or more, the
 * time is in ms: "33.0 ms". */
struct bb_table_cell bb_table_cell_time(double ns, double scale);

/* Returns a number with the decimals that fit its own size; "-" for NAN. */
struct bb_table_cell bb_table_cell_value(double value);

/* Returns "[1.2, 3.4]" with the decimals of the value. Empty if there is no interval. */
struct bb_table_cell bb_table_cell_interval(const struct bb_estimate *e);

/* Returns any text, shortened to the size of a cell. */
struct bb_table_cell bb_table_cell_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the columns of a terminal that `text` needs, one for each character. */
size_t bb_text_width(const char *text);

/* Writes a text that may come from an untrusted file. Control characters and bytes that are not
 * UTF-8 become '?', so that no terminal obeys them. */
void bb_put_clean(FILE *out, const char *text);

/* Writes a line of source as bb_put_clean() does, with blanks for tabs. A line that is too long
 * to read, or longer than `width` characters, is shortened. */
void bb_put_code(FILE *out, const char *text, size_t width);
