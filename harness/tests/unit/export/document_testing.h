/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Renders documents as text and as Markdown. Include after cmocka.h. */

#include <stdio.h>

#include "export/documents.h"

/* As text whose lines are not broken, up to 120 columns. */
static inline void as_text(const struct bb_doc *d, FILE *out)
{
	const struct bb_doc_look look = {.width = 120};

	bb_doc__text(d, &look, out);
}

/* Renders the document and frees it. The caller frees the returned text. */
static inline char *rendered(struct bb_doc *d, void (*render)(const struct bb_doc *d, FILE *out))
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	render(d, out);
	assert_int_equal(fclose(out), 0);
	bb_doc__done(d);
	return text;
}
