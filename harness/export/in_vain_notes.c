/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/in_vain_notes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "export/sweep_table.h"

struct notes {
	char **v;
	size_t n;
};

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

static int add(struct notes *notes, char *text)
{
	char **new;

	for (size_t i = 0; text && i < notes->n; i++)
		if (!strcmp(notes->v[i], text)) {
			free(text);
			return 0;
		}
	new = text ? bb_append(&notes->v, &notes->n, sizeof(*notes->v)) : NULL;
	if (new)
		*new = text;
	else
		free(text);
	return new ? 0 : -ENOMEM;
}

/* Does the case stand in the table of `table`, or in the same sweep? */
static bool is_beside(const struct bb_case *c, const struct bb_case *table, bool is_sweep)
{
	return !table || bb_same_table(c, table) ||
	       (is_sweep && bb_same_text(c->scenario, table->scenario) &&
		bb_same_text(c->drive, table->drive) && bb_same_text(c->param, table->param));
}

int bb_put_in_vain(const struct bb_report *r, const struct bb_case *table, bb_put_note *put,
		   FILE *out)
{
	const struct bb_in_vain *last = NULL;
	bool is_sweep = table && bb_is_sweep(r, (size_t)(table - r->cases));
	struct notes notes = {NULL, 0};
	int rc = 0;

	for (size_t i = 0; i < r->n_cases; i++)
		for (size_t k = 0; !rc && k < r->cases[i].n_in_vain; k++) {
			if (!is_beside(&r->cases[i], table, is_sweep))
				continue;
			last = &r->cases[i].in_vain[k];
			rc = add(&notes, compose(r, table, &r->cases[i], last));
		}
	for (size_t i = 0; i < notes.n; i++) {
		if (!rc)
			put(notes.v[i], false, out);
		free(notes.v[i]);
	}
	if (!rc && last)
		put(bb_in_vain__remedy(last), true, out);
	free(notes.v);
	return rc;
}
