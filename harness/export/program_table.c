/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/program_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/table_cells.h"
#include "export/text_table.h"

static const struct bb_text_column first_columns[] = {{"variant (program)", true}, {"type", true}};
#define N_FIRST (sizeof(first_columns) / sizeof(first_columns[0]))

static void add_row(struct bb_text_table *t, const struct bb_program *p)
{
	if (strcmp(p->variant, p->program))
		bb_text_table__add(t, "%s (%s)", p->variant, p->program);
	else
		bb_text_table__add(t, "%s", p->variant);
	bb_text_table__add(t, "%s", p->type);
	for (size_t i = 0; i < bb_n_static_metrics; i++) {
		double value = bb_static_of(&p->metrics, &bb_static_metrics[i]);

		bb_text_table__add(t, "%s",
				   isnan(value) ? BB_TEXT_ABSENT
						: bb_table_cell_number(value, BB_WHOLE).text);
	}
}

int bb_put_programs(const struct bb_report *r, FILE *out)
{
	struct bb_text_column *columns;
	struct bb_text_table t;
	int rc;

	if (!r->n_programs)
		return 0;
	columns = calloc(N_FIRST + bb_n_static_metrics, sizeof(*columns));
	if (!columns)
		return -ENOMEM;
	memcpy(columns, first_columns, sizeof(first_columns));
	for (size_t i = 0; i < bb_n_static_metrics; i++)
		columns[N_FIRST + i].head = bb_static_metrics[i].name;
	bb_text_table__init(&t, columns, N_FIRST + bb_n_static_metrics);
	for (size_t i = 0; i < r->n_programs; i++)
		add_row(&t, &r->programs[i]);
	fputc('\n', out);
	bb_put_clean(out, r->programs[0].scenario);
	fputs(", programs as the kernel loaded them\n", out);
	rc = bb_text_table__print(&t, 2, out);
	bb_text_table__done(&t);
	free(columns);
	return rc;
}
