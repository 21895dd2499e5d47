/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_SOURCE_H
#define BB_HTML_HTML_SOURCE_H

#include <stdio.h>

#include "report/report.h"

/*
 * The counts of the exact drive for the HTML page: a table of the programs, and the source of each
 * with the counts of its lines, as bb_annotate() prints it. `page` makes the names of lines unique
 * where there are several runs on a page. 0 or -ENOMEM.
 */
int bb_html_source(FILE *out, const struct bb_report *r, size_t page);

#endif
