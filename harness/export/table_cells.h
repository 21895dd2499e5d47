/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "report/report.h"

/* How much detail a document shows: BB_SHORT or BB_DETAILS. For a column: the documents that show
 * it. BB_SENTENCE is only for columns: the sentence about a scenario with one program also has the
 * figure, after the net cost. */
enum bb_detail {
	BB_SHORT = 1,
	BB_DETAILS = 2,
	BB_BOTH = BB_SHORT | BB_DETAILS,
	BB_SENTENCE = 4,
	BB_ALL = BB_BOTH | BB_SENTENCE,
	BB_SHORT_NO_NET = 8, /* only in short tables in which no case has a net cost */
};

/* A column of the tables of cases. To add a column, add a row in table_cells.c. A column has a
 * function `cell`, or it shows the struct bb_estimate at the offset `estimate` in struct
 * bb_summary. */
struct bb_case_column {
	struct bb_doc_column as;
	enum bb_detail in;
	struct bb_table_cell (*cell)(const struct bb_case *c); /* NULL: `estimate` is used */
	size_t estimate;
	/* kind of the estimate */
	enum { BB_A_TIME, BB_A_TIME_OF_SAMPLES, BB_A_SHARE, BB_A_COUNT, BB_A_RATE } is;
};

extern const struct bb_case_column bb_case_columns[];
extern const size_t bb_n_case_columns;

/* Returns the cell of the case in this column; empty if the case has no such figure. */
struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column);

/* Return the figure that follows "+-": the distance from the net cost, or from the latency, to the
 * farther end of its 95 % interval. It has as many decimals as the latency. Empty if there is no
 * interval. */
struct bb_table_cell bb_net_half_cell(const struct bb_case *c);
struct bb_table_cell bb_latency_half_cell(const struct bb_case *c);

/* Returns the latency minus the net cost. If the case has no net cost, returns the floor's latency.
 * These two figures differ a little: the net cost is estimated load by load, and the floor's
 * latency over all loads of the floor. */
struct bb_table_cell bb_floor_cell(const struct bb_case *c);

/* True if the consumer of a ring had finished less than 90 % of the samples in it. */
bool bb_is_behind(const struct bb_case *c);

/* Returns how many of the program's instructions the runs execute: "88 of 272". Empty if that was
 * not counted. */
struct bb_table_cell bb_executed_cell(const struct bb_case *c);

/* Returns a share in percent, such as "53", "2.7" or "0.04"; "< 0.01" if it is smaller than that,
 * but not 0. Empty if the share is not finite. */
struct bb_table_cell bb_table_cell_percent(double share);

/* Mark before a net cost for which bb_net_is_near_0() is true. */
#define BB_NEAR_0_MARK "*"

/* True if the net cost is below 0, or not larger than the longer side of its interval. */
bool bb_net_is_near_0(const struct bb_case *c);

/* Returns the net cost, after BB_NEAR_0_MARK if bb_net_is_near_0(). */
struct bb_table_cell bb_net_cell(const struct bb_case *c);

/* Returns a number as text. `scale` decides on the decimals: two if it is below 10, one if it is
 * below 1000, otherwise none: "9.87", "712.4", "1234". A value of 10 000 or more has none, either.
 * Empty if the value is not finite. */
#define BB_WHOLE 1000.0 /* value of `scale` for whole numbers, which have no decimals */
struct bb_table_cell bb_table_cell_number(double value, double scale);

/* True if a time of `ns` is shown in ms: if it is a millisecond or more. */
bool bb_is_shown_in_ms(double ns);

/* Returns a time as bb_table_cell_number() does: in ns or, if `scale` is a millisecond or more, in
 * ms: "33.0 ms". */
struct bb_table_cell bb_table_cell_time(double ns, double scale);

/* Returns bb_table_cell_number(value, value), or "-" for NAN. */
struct bb_table_cell bb_table_cell_value(double value);

/* Returns the interval of an estimate, "[1.2, 3.4]", with as many decimals as its value. Empty if
 * there is no interval. */
struct bb_table_cell bb_table_cell_interval(const struct bb_estimate *e);

/* Returns a text made of `fmt`, cut to the size of a cell. */
struct bb_table_cell bb_table_cell_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns a file's path as tables show it: of a long path only the end, "…/bpf/prog.bpf.c". */
struct bb_table_cell bb_path_cell(const char *path);

/* Returns the number of characters of a UTF-8 text, for each of which a terminal needs a column. */
size_t bb_text_width(const char *text);

/* Writes a text that may come from an untrusted file. Writes '?' for control characters and for
 * bytes that are not UTF-8, so that no terminal obeys them. */
void bb_put_clean(FILE *out, const char *text);

/* Writes a line of source as bb_put_clean() does, with blanks for tabs. Takes only about the first
 * 1000 bytes of the line. If these have more than `width` characters, cuts them to `width`
 * characters that end in "…". */
void bb_put_code(FILE *out, const char *text, size_t width);
