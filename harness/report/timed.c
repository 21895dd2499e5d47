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

bool bb_timed__is_cold(const struct bb_timed *t)
{
	size_t len = strlen(t->drive);

	return len > 5 && !strcmp(t->drive + len - 5, "-cold");
}

static bool same_row(const struct bb_timed_row *a, const struct bb_timed_row *b)
{
	return a->insn == b->insn && a->line == b->line && a->last_line == b->last_line &&
	       a->turns == b->turns && !strcmp(a->call, b->call) && !strcmp(a->from, b->from);
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
