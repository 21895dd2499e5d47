/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_PARTS_H
#define BB_HTML_HTML_PARTS_H

#include <stdio.h>

#include "export/text_table.h"

/* The parts of the sections of the HTML page. */

void bb_html_text_cell(FILE *out, const char *text); /* aligned to the left */
/* scale: export/table_cells.h */
void bb_html_number_cell(FILE *out, double value, double scale);
void bb_html_percent_cell(FILE *out, double ratio); /* "+3.02 %" */

/* Tables that are wider than the screen scroll in a box of their own. `heads`: "<th>case<th>..." */
void bb_html_begin_table(FILE *out, const char *heads);
void bb_html_end_table(FILE *out);

/* A whole table; the text table is done with. 0 or -ENOMEM. */
int bb_html_text_table(FILE *out, struct bb_text_table *t);

/* Around charts: they are beside each other where there is room. */
#define BB_HTML_CHARTS "<div class=charts>\n"
#define BB_HTML_CHARTS_END "</div>\n"

#endif
