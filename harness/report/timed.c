/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/timed.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "report/records.h"

struct bb_timed_row *bb_timed__add_row(struct bb_timed *t)
{
	return bb_record__append(&bb_timed_row_record, &t->rows, &t->n_rows);
}

/* Numbers first, as far as there are any; a damaged text gives other calls and no harm. */
int bb_timed_row__set_from(struct bb_timed_row *row, const char *text)
{
	while (*text) {
		size_t bytes = strcspn(text, ";"), digits = strspn(text, "0123456789");
		struct bb_timed_call *c = bb_record__append(&bb_timed_call_record, &row->from,
							    &row->n_from);
		const char *number = text;
		uint64_t line;

		if (!c)
			return -ENOMEM;
		c->line = bb_parse_digits(&number, &line) || line > UINT32_MAX ? 0 : (uint32_t)line;
		c->call = strndup(text + digits + 1, bytes > digits ? bytes - digits - 1 : 0);
		if (!c->call)
			return -ENOMEM;
		text += bytes + (text[bytes] == ';');
	}
	return 0;
}

int bb_timed_row__compare_from(const struct bb_timed_row *a, const struct bb_timed_row *b, size_t n)
{
	size_t n_a = a->n_from < n ? a->n_from : n, n_b = b->n_from < n ? b->n_from : n;
	int order = (n_a > n_b) - (n_a < n_b);

	for (size_t i = 0; !order && i < n_a; i++) {
		order = (a->from[i].line > b->from[i].line) - (a->from[i].line < b->from[i].line);
		if (!order)
			order = strcmp(a->from[i].call, b->from[i].call);
	}
	return order;
}

bool bb_timed__is_cold(const struct bb_timed *t)
{
	size_t len = strlen(t->drive);

	return len > 5 && !strcmp(t->drive + len - 5, "-cold");
}

static bool same_row(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return a->insn == b->insn && a->line == b->line && a->last_line == b->last_line &&
	       a->turns == b->turns && !strcmp(a->call, b->call) &&
	       !bb_timed_row__compare_from(a, b, SIZE_MAX);
}

bool bb_timed__same_rows(const struct bb_timed *a, const struct bb_timed *b)
{
	for (size_t i = 0; i < a->n_rows && i < b->n_rows; i++)
		if (!same_row(&a->rows[i], &b->rows[i]))
			return false;
	return a->n_rows == b->n_rows;
}

static int append(struct bb_numbers *into, const struct bb_numbers *more)
{
	return bb_numbers__append(into, more->x, more->n);
}

int bb_timed__take_loads(struct bb_timed *into, const struct bb_timed *from)
{
	double n = (double)into->program_ns.n, more = (double)from->program_ns.n;
	int rc;

	if (n + more > 0)
		into->check_ns = (n * into->check_ns + more * from->check_ns) / (n + more);
	into->runs += from->runs;
	into->other_ways += from->other_ways;
	into->sweeps += from->sweeps;
	into->disturbed += from->disturbed;
	into->processes += from->processes;
	rc = append(&into->program_ns, &from->program_ns) |
	     append(&into->empty_ns, &from->empty_ns) | append(&into->rest_ns, &from->rest_ns) |
	     append(&into->hidden_ns, &from->hidden_ns);
	for (size_t i = 0; !rc && i < into->n_rows; i++)
		rc = append(&into->rows[i].ns, &from->rows[i].ns) |
		     append(&into->rows[i].first_ns, &from->rows[i].first_ns);
	return rc ? -ENOMEM : 0;
}
