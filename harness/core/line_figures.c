/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "core/line_figures.h"

#include "base/parse.h"
#include "base/text.h"

/* A damaged `text` gives wrong calls, which does no harm. */
void bb_timed_row__set_from(struct bb_timed_row *row, const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, ";"), digits = strspn(text, "0123456789");
		struct bb_timed_call *c = bb_append(&row->from, &row->n_from, sizeof(*c));
		const char *number = text;
		uint64_t line;

		c->line = bb_parse_digits(&number, &line) || line > UINT32_MAX ? 0 : (uint32_t)line;
		c->call = bb_strndup(text + digits + 1, bytes > digits ? bytes - digits - 1 : 0);
		text += bytes + (text[bytes] == ';');
	}
}

int bb_timed_row__compare_from(const struct bb_timed_row *a, const struct bb_timed_row *b, size_t n)
{
	size_t n_a = a->n_from < n ? a->n_from : n, n_b = b->n_from < n ? b->n_from : n;
	int order = BB_ORDER(n_a, n_b);

	for (size_t i = 0; !order && i < n_a; i++)
		order = BB_ORDER(a->from[i].line, b->from[i].line)
				?: strcmp(a->from[i].call, b->from[i].call);
	return order;
}

bool bb_timed__is_cold(const struct bb_timed *t)
{
	return bb_ends_in(t->drive, "-cold");
}
