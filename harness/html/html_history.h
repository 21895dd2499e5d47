/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_HISTORY_H
#define BB_HTML_HTML_HISTORY_H

#include <stddef.h>
#include <stdio.h>

#include "html/html.h"

/* The pictures of a run's cases over all stored runs, and a row a case (bb_doc_history()). 0 or
 * -ENOMEM. */
int bb_html_history(FILE *out, const struct bb_html_page *page, size_t nth);

#endif
