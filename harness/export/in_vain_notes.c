/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/documents.h"

#include <stdlib.h>
#include <string.h>

static char *compose(const struct bb_report *r, const struct bb_case *table,
		     const struct bb_case *c, const struct bb_in_vain *v)
{
	char *words = bb_in_vain__words(v), *text = NULL;

	if (words && asprintf(&text, "%s%s%s: %s", table ? "" : c->scenario,
			      table || r->n_comparisons ? "" : "/",
			      table || !r->n_comparisons ? c->variant : "", words) < 0)
		text = NULL;
	free(words);
	return text;
}

/* Was it said since block `from`? */
static bool is_said(const struct bb_doc *d, size_t from, const char *text)
{
	for (size_t i = from; i < d->n; i++)
		if (!strcmp(d->blocks[i].text, text))
			return true;
	return false;
}

/* Does the case stand in the table of `table`, or in the same sweep? */
static bool is_beside(const struct bb_case *c, const struct bb_case *table, bool is_sweep)
{
	return !table || bb_same_table(c, table) ||
	       (is_sweep && bb_same_text(c->scenario, table->scenario) &&
		bb_same_text(c->drive, table->drive) && bb_same_text(c->param, table->param));
}

void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d)
{
	const struct bb_in_vain *last = NULL;
	bool is_sweep = table && bb_is_sweep(r, (size_t)(table - r->cases));
	size_t from = d->n;

	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t k = 0; k < r->cases[i].n_in_vain && !d->failed; k++) {
			char *text;

			if (!is_beside(&r->cases[i], table, is_sweep))
				continue;
			last = &r->cases[i].in_vain[k];
			text = compose(r, table, &r->cases[i], last);
			if (!text)
				d->failed = true;
			else if (!is_said(d, from, text))
				bb_doc__add(d, BB_DOC_BAD_ITEM, "in vain", "%s", text);
			free(text);
		}
	if (last)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s", bb_in_vain__remedy(last));
}
