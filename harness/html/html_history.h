/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_HISTORY_H
#define BB_HTML_HTML_HISTORY_H

#include <stddef.h>
#include <stdio.h>

#include "html/html.h"
#include "judge/timeline.h"
#include "report/report.h"

/* The cases of a run over all stored runs, for the HTML page. */

#define BB_HTML_HISTORY_ROWS 200u

/* How many runs any case of this one is in; 0: its cases are in none. */
size_t bb_html_history_runs(const struct bb_report *r, const struct bb_timeline *t);

/* The outcome in a sentence; and a line for each case that is suspect, regressed or improved. */
void bb_html_history_verdicts(FILE *out, const struct bb_report *r, const struct bb_timeline *t);

/*
 * The pictures, and a row a case: its mark, the judged figure of the newest run, and its distance
 * from the baseline. Changed cases come first, the inputs of a sweep last; of more than
 * BB_HTML_HISTORY_ROWS the rest is said to be left out. 0 or -ENOMEM.
 */
int bb_html_history(FILE *out, const struct bb_html_page *page, size_t nth);

#endif
