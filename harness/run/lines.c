/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/lines.h"

/* Of rows[load * n_rows + row], those of one row. NULL when out of memory. */
static char *of_row(const double *rows, size_t n_rows, size_t row, uint32_t n_loads)
{
	double *x = calloc(n_loads, sizeof(*x));
	char *text;

	if (!x)
		return NULL;
	for (uint32_t l = 0; l < n_loads; l++)
		x[l] = rows[l * n_rows + row];
	text = bb_timed_text(x, n_loads);
	free(x);
	return text;
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
	row->from = strdup(from->from);
	row->enters = from->enters;
	row->line = from->line;
	row->last_line = from->last_line;
	row->insn = from->first_insn;
	row->is_loop = from->is_loop;
	row->turns = from->turns;
	row->ns = of_row(lines->rows_ns, lines->path->n_rows, i, lines->n_loads);
	row->first_ns = of_row(lines->first_ns, lines->path->n_rows, i, lines->n_loads);
	return row->file && row->text && row->call && row->from && row->ns && row->first_ns
		       ? 0
		       : -ENOMEM;
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
	t->other_ways = lines->other_ways;
	t->sweeps = lines->sweeps;
	t->disturbed = lines->disturbed;
	t->check_ns = lines->check_ns;
	t->leaves = lines->path->leaves;
	t->processes = 1;
	t->program_ns = bb_timed_text(lines->program_ns, lines->n_loads);
	t->empty_ns = bb_timed_text(lines->empty_ns, lines->n_loads);
	t->hidden_ns = bb_timed_text(lines->hidden_ns, lines->n_loads);
	t->rest_ns = bb_timed_text(lines->rest_ns, lines->n_loads);
	if (!t->name || !t->scenario || !t->variant || !t->drive || (c->param && !t->param) ||
	    (lines->refused && !t->refused_why) || (lines->thinned_why[0] && !t->thinned_why) ||
	    !t->program_ns || !t->empty_ns || !t->hidden_ns || !t->rest_ns)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < lines->path->n_rows; i++)
		rc = add_row(t, lines, i);
	return rc;
}

int bb_note_lines(struct bb_session *s, struct bb_report *report, struct bb_err *err)
{
	for (size_t i = 0; i < s->plan->n_cases; i++) {
		const struct bb_plan_case *cell = &s->plan->cases[i];
		const struct bb_open_drive *d = &s->drives[bb_session__drive(s, cell)];
		const struct bb_case *c = bb_report__find_case(report, cell->name);
		struct bb_lines lines;
		struct bb_timed *t;
		int rc;

		if (!c || !d->driver || !d->driver->kind.by_line || bb_plan_case__is_floor(cell))
			continue;
		rc = bb_lines__of(d->state, cell->variant, cell->driver_param, &lines);
		if (rc == -ENOENT)
			continue;
		t = rc ? NULL : bb_report__add_timed(report);
		if (!t || fill(t, c, &lines))
			return bb_fail_nomem(err);
	}
	return 0;
}
