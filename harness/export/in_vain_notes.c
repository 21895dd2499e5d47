/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/documents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One note, unless it was said since block `from`. `words`: NULL: out of memory. */
static void add_once(const struct bb_report *r, const struct bb_case *table,
		     const struct bb_case *c, const char *words, size_t from, struct bb_doc *d)
{
	bool is_said = false;
	char *text = NULL;

	if (!words || asprintf(&text, "%s%s%s: %s", table ? "" : c->scenario,
			       table || r->n_comparisons ? "" : "/",
			       table || !r->n_comparisons ? c->variant : "", words) < 0) {
		d->failed = true;
		return;
	}
	for (size_t i = from; i < d->n && !is_said; i++)
		is_said = d->blocks[i].text && !strcmp(d->blocks[i].text, text);
	if (!is_said)
		bb_doc__add(d, BB_DOC_BAD_ITEM, "in vain", "%s", text);
	free(text);
}

/* Does the case stand in the table of `table`, or in the same sweep? */
static bool is_beside(const struct bb_case *c, const struct bb_case *table, bool is_sweep)
{
	return !table || bb_same_table(c, table) ||
	       (is_sweep && bb_same_text(c->scenario, table->scenario) &&
		bb_same_text(c->drive, table->drive) && bb_same_text(c->param, table->param));
}

/* The first table of a scenario: what is said there is not said again for its other drives. */
static size_t beginning_of(const char *scenario, const struct bb_doc *d)
{
	size_t length = strlen(scenario), i = 0;

	while (i < d->n &&
	       (d->blocks[i].kind != BB_DOC_TITLE || strncmp(d->blocks[i].text, scenario, length) ||
		d->blocks[i].text[length] != ','))
		i++;
	return i;
}

void bb_doc_in_vain(const struct bb_report *r, const struct bb_case *table, struct bb_doc *d)
{
	const struct bb_in_vain *last = NULL;
	size_t before = d->n;
	bool is_sweep = table && bb_is_sweep(r, (size_t)(table - r->cases));
	size_t from = table ? beginning_of(table->scenario, d) : d->n;

	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t k = 0; k < r->cases[i].n_in_vain && !d->failed; k++) {
			char *words;

			if (!is_beside(&r->cases[i], table, is_sweep))
				continue;
			last = &r->cases[i].in_vain[k];
			words = bb_in_vain__words(last);
			add_once(r, table, &r->cases[i], words, from, d);
			free(words);
		}
	if (last && d->n > before)
		bb_doc__add(d, BB_DOC_SUBITEM, NULL, "%s", bb_in_vain__remedy(last));
	for (size_t i = 0; i < r->n_cases; i++) {
		char words[160];

		if (!r->cases[i].n_unwatched || !is_beside(&r->cases[i], table, is_sweep))
			continue;
		snprintf(words, sizeof(words),
			 "not known for %" PRIu32 " of its lookups and tail calls: the verifier "
			 "refuses the program with a counter at each",
			 r->cases[i].n_unwatched);
		add_once(r, table, &r->cases[i], words, from, d);
	}
}
