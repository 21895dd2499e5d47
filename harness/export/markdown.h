/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_MARKDOWN_H
#define BB_EXPORT_MARKDOWN_H

#include <stdio.h>

#include "core/metric.h"
#include "report/report.h"

/* Cells of a Markdown table. A missing figure is "-". */

/* neither ends a cell nor begins markup, mentions a user, refers to an issue or commit or is a
 * link; NULL: nothing */
void bb_md_text(const char *text, FILE *mem);
/* Markdown for a terminal: as the texts were before bb_md_text() */
void bb_md_plain(const char *markdown, FILE *out);
/* " 12.5 |"; scale: export/table_cells.h */
void bb_md_number(double value, double scale, FILE *mem);
void bb_md_percent(double ratio, FILE *mem);                     /* "+3.02 %" */
void bb_md_interval(const struct bb_estimate *ratio, FILE *mem); /* "+2.95 % to +3.10 %" */
/* The calls in vain of a run (export/in_vain_notes.h) as a list. 0 or -ENOMEM. */
int bb_md_in_vain(const struct bb_report *r, FILE *mem);
/* "| case | base | head | difference | interval": a row's first cells */
void bb_md_comparison(const struct bb_comparison *c, FILE *mem);

#endif
