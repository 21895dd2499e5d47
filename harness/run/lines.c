/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/lines.h"

/* x[i * stride] of all loads, to 0.01 ns, which is finer than any clock. */
static int add_numbers(struct bb_numbers *list, const double *x, size_t stride, uint32_t n_loads)
{
	int rc = 0;

	for (uint32_t l = 0; !rc && l < n_loads; l++) {
		double rounded = round(100 * x[l * stride]) / 100;

		rc = bb_numbers__append(list, &rounded, 1);
	}
	return rc;
}

static int add_row(struct bb_timed *t, const struct bb_lines *lines, size_t i)
{
	const struct bb_line_row *from = &lines->path->rows[i];
	struct bb_timed_row *row = bb_timed__add_row(t);

	if (!row)
		return -ENOMEM;
	row->file = strdup(from->file);
	row->text = strdup(from->text);
	row->call = strdup(from->call);
	row->enters = from->enters;
	row->line = from->line;
	row->last_line = from->last_line;
	row->insn = from->first_insn;
	row->is_loop = from->is_loop;
	row->turns = from->turns;
	if (!row->file || !row->text || !row->call || bb_timed_row__set_from(row, from->from))
		return -ENOMEM;
	return add_numbers(&row->ns, lines->rows_ns + i, lines->path->n_rows, lines->n_loads) |
	       add_numbers(&row->first_ns, lines->first_ns + i, lines->path->n_rows,
			   lines->n_loads);
}

static int fill(struct bb_timed *t, const struct bb_case *c, const struct bb_lines *lines)
{
	int rc = 0;

	t->name = strdup(c->name);
	t->scenario = strdup(c->scenario);
	t->variant = strdup(c->variant);
	t->drive = strdup(c->drive);
	t->param = c->param ? strdup(c->param) : NULL;
	t->param_value = c->param_value;
	t->cuts = lines->n_cuts;
	t->refused = lines->refused;
	t->refused_why = lines->refused ? strdup(lines->refused_why) : NULL;
	t->points = lines->points;
	t->thinned_why = lines->thinned_why[0] ? strdup(lines->thinned_why) : NULL;
	t->passed = lines->path->n;
	t->measured = lines->path->n_measured - lines->path->leaves;
	t->runs = lines->runs;
	t->other_ways = lines->other_paths;
	t->sweeps = lines->sweeps;
	t->disturbed = lines->disturbed;
	t->check_ns = lines->check_ns;
	t->leaves = lines->path->leaves;
	t->processes = 1;
	if (!t->name || !t->scenario || !t->variant || !t->drive || (c->param && !t->param) ||
	    (lines->refused && !t->refused_why) || (lines->thinned_why[0] && !t->thinned_why))
		return -ENOMEM;
	rc = add_numbers(&t->program_ns, lines->program_ns, 1, lines->n_loads) |
	     add_numbers(&t->empty_ns, lines->empty_ns, 1, lines->n_loads) |
	     add_numbers(&t->hidden_ns, lines->hidden_ns, 1, lines->n_loads) |
	     add_numbers(&t->rest_ns, lines->rest_ns, 1, lines->n_loads);
	for (size_t i = 0; !rc && i < lines->path->n_rows; i++)
		rc = add_row(t, lines, i);
	return rc;
}

int bb_note_lines(struct bb_session *s, struct bb_report *report, struct bb_err *err)
{
	for (size_t i = 0; i < s->plan->n_cases; i++) {
		const struct bb_plan_case *planned = &s->plan->cases[i];
		const struct bb_open_drive *d = &s->drives[bb_session__drive(s, planned)];
		const struct bb_case *c = bb_report__find_case(report, planned->name);
		struct bb_lines lines;
		struct bb_timed *t;
		int rc;

		if (!c || !d->driver || !d->driver->kind.by_line || bb_plan_case__is_floor(planned))
			continue;
		rc = bb_lines__of(d->state, planned->variant, planned->driver_param, &lines);
		if (rc == -ENOENT)
			continue;
		t = rc ? NULL : bb_report__add_timed(report);
		if (!t || fill(t, c, &lines))
			return bb_fail_nomem(err);
	}
	return 0;
}
