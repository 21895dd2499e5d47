/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_BY_LINE_PRINT_H
#define BB_EXPORT_BY_LINE_PRINT_H

#include <stdbool.h>
#include <stdio.h>

#include "export/text_table.h"
#include "judge/by_line.h"

/* "64 % is bpf_ringbuf_submit of line 81, 34 % bpf_get_stack of line 75, ..." into buf[size]. */
void bb_by_line__sentence(const struct bb_by_line *b, char *buf, size_t size);

/* "with cold caches 15 728 ns: bpf_ringbuf_submit of line 83 +7096, ..."; "" where it was not cold.
 */
void bb_by_line__cold_sentence(const struct bb_by_line *b, char *buf, size_t size);

/* Sentences about the measurement for below the table, each with a newline; "": none. Free it. 0 or
 * -ENOMEM. */
int bb_by_line__notes(const struct bb_by_line *b, char **ret_text);

/* Cells of a line: ns, below what can be told from nothing a bound; its place, "83", "83-90" or
 * "@12"; and, before its source, "inner() of line 45, part() of line 97: (loop) ", or nothing. */
void bb_by_line__add_ns(struct bb_text_table *t, double ns);
void bb_by_line__place(const struct bb_timed_row *row, char *buf, size_t size);
void bb_by_line__before(const struct bb_timed_row *row, char *buf, size_t size);

/* Its table: bb_text_table__done() it. 0 or -ENOMEM. */
int bb_by_line__table(const struct bb_by_line *b, bool longest_first,
		      struct bb_text_table *ret_table);

/*
 * The table for people: each line of one run with its time, its share and its instructions, below
 * it the calls in it; `longest_first`: by time instead of by place. 0 or -ENOMEM.
 */
int bb_by_line__print(const struct bb_by_line *b, bool longest_first, FILE *out);

#endif
