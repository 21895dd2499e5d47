/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export/document.h"
#include "report/report.h"

/* How much a document shows (BB_SHORT or BB_DETAILS), or, for a column, which documents show it. If
 * a scenario has only one program, a document describes it by a sentence. BB_SENTENCE means that
 * this sentence has the column's figure. */
enum bb_detail {
	BB_SHORT = 1,
	BB_DETAILS = 2,
	BB_BOTH = BB_SHORT | BB_DETAILS,
	BB_SENTENCE = 4,
	BB_ALL = BB_BOTH | BB_SENTENCE,
	BB_SHORT_NO_NET = 8, /* only short documents, and only if no case of the table has a net
			      * cost */
};

/* A column of the tables of cases. It shows what `cell` returns. If `cell` is NULL, it shows the
 * struct bb_estimate at the offset `estimate` in struct bb_summary. */
struct bb_case_column {
	struct bb_doc_column as;
	enum bb_detail in;
	struct bb_table_cell (*cell)(const struct bb_case *c);
	size_t estimate;
	enum { BB_A_TIME, BB_A_TIME_OF_SAMPLES, BB_A_SHARE, BB_A_COUNT, BB_A_RATE } is;
};

extern const struct bb_case_column bb_case_columns[];
extern const size_t bb_n_case_columns;

/* Returns the cell of a case in a column. It is empty if the case has no such figure. */
struct bb_table_cell bb_case_cell(const struct bb_case *c, const struct bb_case_column *column);

/* Return the figure after "+-": the distance from the net cost, or from the latency, to the farther
 * end of its 95 % interval. The figure has as many decimals as the latency. The cell is empty if
 * there is no interval. */
struct bb_table_cell bb_net_half_cell(const struct bb_case *c);
struct bb_table_cell bb_latency_half_cell(const struct bb_case *c);

/* Returns the latency minus the net cost. Without a net cost, returns the floor's latency. The two
 * figures differ a little, because the net cost is estimated load by load. */
struct bb_table_cell bb_floor_cell(const struct bb_case *c);

/* True if the consumer of a ring finished less than 90 % of the samples that got into the ring. */
bool bb_is_behind(const struct bb_case *c);

/* Returns how many of its instructions the program executes, "88 of 272", or an empty cell. */
struct bb_table_cell bb_executed_cell(const struct bb_case *c);

/* Returns a share in percent: "53", "2.7", "0.04" or "< 0.01". The cell is empty if the share is
 * not finite. */
struct bb_table_cell bb_table_cell_percent(double share);

#define BB_NEAR_0_MARK "*"

/* True if the net cost cannot be told from 0: it is negative, or at most as large as the distance
 * from it to the farther end of its interval. */
bool bb_net_is_near_0(const struct bb_case *c);

/* Returns the net cost, with BB_NEAR_0_MARK before it if bb_net_is_near_0(). */
struct bb_table_cell bb_net_cell(const struct bb_case *c);

/* Returns a number as text. It has two decimals if `scale` is below 10, one if `scale` is below
 * 1000, else none ("9.87", "712.4", "1234"). A number of 10 000 or more has no decimals. The cell
 * is empty if the number is not finite. */
#define BB_WHOLE 1000.0 /* value of `scale` for no decimals */
struct bb_table_cell bb_table_cell_number(double value, double scale);

/* True for a time of 1 ms or more, which is shown in ms. */
bool bb_is_shown_in_ms(double ns);

/* Returns a time as text, with the decimals of bb_table_cell_number(). The time is in ms if `scale`
 * is 1 ms or more, else in ns. */
struct bb_table_cell bb_table_cell_time(double ns, double scale);

/* Returns bb_table_cell_number(value, value), or "-" for NAN. */
struct bb_table_cell bb_table_cell_value(double value);

/* Returns a text made of `fmt`, cut to the size of a cell. */
struct bb_table_cell bb_table_cell_of(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Returns the path of a file or, if it is long, only its end: "…/bpf/prog.bpf.c". */
struct bb_table_cell bb_path_cell(const char *path);

/* Returns the number of characters of a UTF-8 text. */
size_t bb_text_width(const char *text);

/* Writes a text that may come from an untrusted file. '?' replaces control characters and bytes
 * that are not UTF-8, so that no terminal obeys them. */
void bb_put_clean(FILE *out, const char *text);

/* Writes a line of source as bb_put_clean() does, with blanks for tabs. Cuts a line that is longer
 * than `width` characters, so that it has `width` characters, of which the last is "…". Also cuts
 * it after about 1000 bytes. */
void bb_put_code(FILE *out, const char *text, size_t width);
