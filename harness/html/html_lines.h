/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_LINES_H
#define BB_HTML_HTML_LINES_H

#include <stdio.h>

#include "report/report.h"

/*
 * The measurements of the drive `lines`, for the HTML page: of each case the sentence, the flame
 * graph flames[r->n_timed] (HTML; NULL: none) and the table, as bb_by_line__print() has it. 0 or
 * -ENOMEM.
 */
int bb_html_lines(FILE *out, const struct bb_report *r, char *const *flames);

#endif
