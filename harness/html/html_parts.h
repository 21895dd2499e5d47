/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_HTML_HTML_PARTS_H
#define BB_HTML_HTML_PARTS_H

#include <stdio.h>

#include "export/document.h"

/* The parts of the sections of the HTML page. */

/* A document, which is done with then. 0 or -ENOMEM. */
static inline int bb_html_put(struct bb_doc *d, FILE *out)
{
	int rc = bb_doc__html(d, out);

	bb_doc__done(d);
	return rc;
}

/* Tables that are wider than the screen scroll in a box of their own. */
#define BB_HTML_BEGIN_TABLE "<div class=scroll tabindex=0><table"
#define BB_HTML_END_TABLE "</table></div>\n"

/* Around charts: they are beside each other where there is room. */
#define BB_HTML_CHARTS "<div class=charts>\n"
#define BB_HTML_CHARTS_END "</div>\n"

#endif
