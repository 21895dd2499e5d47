/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_CHARTS_H
#define BB_HTML_HTML_CHARTS_H

#include <stdio.h>

#include "report/report.h"

/* The figures of the HTML page: what of a run goes into which chart. All return 0 or -ENOMEM. */

/* Is case i the first of a table (one scenario, drive and value), and has no larger picture shown
 * all of them? */
bool bb_is_first_of_table(const struct bb_report *r, size_t i);

/* Is case i the first of a scenario and drive that has three values of its parameter or more? */
bool bb_is_first_of_curves(const struct bb_report *r, size_t i);

int bb_html_verdict_chart(FILE *out, const struct bb_report *r);
/* of the table that begins there */
int bb_html_latency_chart(FILE *out, const struct bb_report *r, size_t first);
int bb_html_ecdf_chart(FILE *out, const struct bb_report *r, size_t first);
/* cost against the parameter */
int bb_html_curve_chart(FILE *out, const struct bb_report *r, size_t first);

#endif
