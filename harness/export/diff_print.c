/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/diff_print.h"

#include <math.h>

#include "export/table_cells.h"
#include "export/text_table.h"

static const struct bb_text_column columns[] = {
	{"Case", true},        {"Metric", true},  {"A", false},
	{"B", false},          {"Diff", false},   {"Diff %", false},
	{"Interval %", false}, {"Verdict", true}, {"Note", true},
};

static void add_number(struct bb_text_table *t, double value, double scale, const char *sign)
{
	if (isfinite(value))
		bb_text_table__add(t, "%s%s", value > 0 ? sign : "",
				   bb_table_cell_number(value, scale).text);
	else
		bb_text_table__add(t, BB_TEXT_ABSENT);
}

struct percent {
	char text[32];
};

static struct percent percent_of(double ratio)
{
	double percent = 100 * (ratio - 1);
	struct percent p;

	if (fabs(percent) < 0.005) /* no "-0.00" */
		percent = 0;
	snprintf(p.text, sizeof(p.text), fabs(percent) < 99.995 ? "%+.2f" : "%+.4g", percent);
	return p;
}

static void add_row(struct bb_text_table *t, const struct bb_diff *row)
{
	double scale_a = row->exact ? BB_WHOLE : row->a, scale_b = row->exact ? BB_WHOLE : row->b;

	bb_text_table__add(t, "%s", row->name);
	bb_text_table__add(t, "%s%s%s", row->metric, row->exact ? "" : ", ",
			   row->exact ? "" : row->unit);
	add_number(t, row->a, scale_a, "");
	add_number(t, row->b, scale_b, "");
	/* One decimal more than A has: 1 % of 900 ns is 9.0, and paired differences are finer than
	 * either end. */
	add_number(t, row->shift, row->exact ? BB_WHOLE : row->a / 10, "+");
	if (isfinite(row->ratio))
		bb_text_table__add(t, "%s", percent_of(row->ratio).text);
	else
		bb_text_table__add(t, BB_TEXT_ABSENT);
	if (isfinite(row->lo) && isfinite(row->hi))
		bb_text_table__add(t, "[%s, %s]", percent_of(row->lo).text,
				   percent_of(row->hi).text);
	else
		bb_text_table__add(t, BB_TEXT_ABSENT);
	bb_text_table__add(t, "%s",
			   row->has_verdict ? bb_verdict_name(row->verdict) : BB_TEXT_ABSENT);
	bb_text_table__add(t, "%s", row->note ? row->note : "");
}

int bb_diff_print(const struct bb_diffs *d, const char *label_a, const char *label_b, FILE *out)
{
	struct bb_text_table t;
	int rc;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < d->n; i++)
		add_row(&t, &d->rows[i]);
	fputs("A: ", out);
	bb_put_clean(out, label_a);
	fputs("\nB: ", out);
	bb_put_clean(out, label_b);
	fputs("\n\n", out);
	rc = bb_text_table__print(&t, 0, out);
	fprintf(out, "\n%zu regressed, %zu improved, %zu same, %zu inconclusive\n",
		bb_diffs_count(d, BB_VERDICT_REGRESSED), bb_diffs_count(d, BB_VERDICT_IMPROVED),
		bb_diffs_count(d, BB_VERDICT_SAME), bb_diffs_count(d, BB_VERDICT_INCONCLUSIVE));
	bb_text_table__done(&t);
	return rc;
}
