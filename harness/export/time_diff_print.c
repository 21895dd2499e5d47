/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/time_diff_print.h"

#include <math.h>
#include <string.h>

#include "export/by_line_print.h"
#include "export/markdown.h"
#include "export/table_cells.h"
#include "export/text_table.h"
#include "judge/by_line.h"

#define SHOWN 20u /* rows of a case */
#define NAMED 4u  /* lines of a sentence */

#define SLOWER_LEAST 0.005 /* of the machine, below which nothing is said */

static const struct bb_timed_row *row_of(const struct bb_time_diff_row *r)
{
	return r->b ? r->b : r->a;
}

static bool differs(const struct bb_time_diff_row *r)
{
	return r->verdict == BB_VERDICT_REGRESSED || r->verdict == BB_VERDICT_IMPROVED;
}

/* Worth a row: it differs, or does so by less than what matters for sure. */
static bool is_shown(const struct bb_time_diff_row *r)
{
	return differs(r) ||
	       (r->verdict == BB_VERDICT_INCONCLUSIVE && (r->more.lo > 0 || r->more.hi < 0) &&
		fabs(r->more.value) >= BB_BY_LINE_LEAST_NS);
}

static size_t count(const struct bb_time_diff_case *c, enum bb_verdict verdict)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_rows; i++)
		n += c->rows[i].verdict == verdict;
	return n;
}

static struct bb_table_cell signed_value(double ns)
{
	struct bb_table_cell plain = bb_table_cell_value(fabs(ns)), cell;

	snprintf(cell.text, sizeof(cell.text), "%s%.150s", ns < 0 ? "-" : "+", plain.text);
	return cell;
}

/* "+84 ns in line 131 (bpf_ktime_get_ns), no other line differs" into buf[size]. */
static void compose_sentence(const struct bb_time_diff_case *c, char *buf, size_t size)
{
	size_t n = 0, at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < c->n_rows && at < size; i++) {
		const struct bb_time_diff_row *r = &c->rows[i];
		const struct bb_timed_row *row = row_of(r);

		if (!differs(r) || n++ >= NAMED)
			continue;
		at += (size_t)snprintf(buf + at, size - at, "%s%s ns in %s %u%s%.100s%s%s",
				       n > 1 ? ", " : "", signed_value(r->more.value).text,
				       row->line ? "line" : "instruction",
				       row->line ? row->line : row->insn, row->call[0] ? " (" : "",
				       row->call, row->call[0] ? ")" : "",
				       !r->b   ? ", which is gone"
				       : !r->a ? ", which is new"
					       : "");
	}
	if (n > NAMED && at < size)
		snprintf(buf + at, size - at, ", and in %zu lines more", n - NAMED);
	else if (at < size)
		snprintf(buf + at, size - at, "%s",
			 n ? "; no other line surely differs" : "no line surely differs");
	bb_make_clean(buf);
}

/* Of two runs. */
static void put_speed(const struct bb_time_diff_case *c, FILE *out)
{
	const char *between = "the machine itself, B against A: ";

	for (enum bb_reference k = 0; k < BB_N_REFERENCES; k++) {
		if (!(fabs(c->slower[k]) >= SLOWER_LEAST))
			continue;
		fprintf(out, "%s%s %+.1f %%", between, bb_reference_name(k), 100 * c->slower[k]);
		between = ", ";
	}
	if (between[0] == ',')
		fputs("; a line differs where that does not explain it\n", out);
}

static void add_value(struct bb_text_table *t, const struct bb_timed_row *row, double ns)
{
	bb_by_line__add_ns(t, row ? ns : NAN);
}

static int put_rows(const struct bb_time_diff_case *c, FILE *out)
{
	static const struct bb_text_column columns[] = {
		{"A", false},      {"B", false},    {"Diff", false},  {"Interval", false},
		{"Verdict", true}, {"line", false}, {"source", true},
	};
	struct bb_text_table t;
	size_t shown = 0;
	int rc;

	bb_text_table__init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < c->n_rows && shown < SHOWN; i++) {
		const struct bb_time_diff_row *r = &c->rows[i];
		const struct bb_timed_row *row = row_of(r);

		if (!is_shown(r))
			continue;
		shown++;
		add_value(&t, r->a, r->a_ns);
		add_value(&t, r->b, r->b_ns);
		bb_text_table__add(&t, "%s", signed_value(r->more.value).text);
		if (isnan(r->more.lo))
			bb_text_table__add_text(&t, BB_TEXT_ABSENT);
		else
			bb_text_table__add(&t, "[%s, %s]", signed_value(r->more.lo).text,
					   signed_value(r->more.hi).text);
		bb_text_table__add(&t, "%s", bb_verdict_name(r->verdict));
		bb_text_table__add(&t, "%u", row->line ? row->line : row->insn);
		bb_text_table__add(&t, "%.100s%s%.100s", row->call, row->call[0] ? ": " : "",
				   row->text);
	}
	rc = shown ? bb_text_table__print(&t, 2, out) : 0;
	bb_text_table__done(&t);
	return rc;
}

int bb_time_diff__print(const struct bb_time_diff *d, FILE *out)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < d->n_cases; i++) {
		const struct bb_time_diff_case *c = &d->cases[i];
		char sentence[1000];

		bb_put_clean(out, c->b->name);
		fprintf(out, ": A %s ns a run, B %s ns, %s ns [%s, %s]\n",
			bb_table_cell_value(c->a_ns).text, bb_table_cell_value(c->b_ns).text,
			signed_value(c->more.value).text, signed_value(c->more.lo).text,
			signed_value(c->more.hi).text);
		put_speed(c, out);
		compose_sentence(c, sentence, sizeof(sentence));
		fprintf(out, "%s\n", sentence);
		rc = put_rows(c, out);
		fprintf(out, "%zu lines: %zu same, %zu regressed, %zu improved, %zu inconclusive\n",
			c->n_rows, count(c, BB_VERDICT_SAME), count(c, BB_VERDICT_REGRESSED),
			count(c, BB_VERDICT_IMPROVED), count(c, BB_VERDICT_INCONCLUSIVE));
	}
	return rc;
}

/* Tells the cases of one program apart: "/lines/input=syn"; "" for the drive lines without a value.
 */
static const char *below_variant(const struct bb_timed *t)
{
	size_t at = strlen(t->scenario) + 1 + strlen(t->variant);

	return strlen(t->name) > at && strcmp(t->name + at, "/lines") ? t->name + at : "";
}

void bb_time_diff__markdown(const struct bb_time_diff *d, FILE *out)
{
	for (size_t i = 0; i < d->n_cases; i++) {
		const struct bb_time_diff_case *c = &d->cases[i];
		char sentence[1000];
		size_t shown = 0;

		compose_sentence(c, sentence, sizeof(sentence));
		fputs("\n", out);
		bb_md_text(c->b->scenario, out);
		bb_md_text(below_variant(c->b), out);
		fputs(", nanoseconds by source line: ", out);
		bb_md_text(sentence, out);
		fputs("\n\n", out);
		for (size_t k = 0; k < c->n_rows && shown < SHOWN; k++) {
			const struct bb_time_diff_row *r = &c->rows[k];
			const struct bb_timed_row *row = row_of(r);

			if (!differs(r))
				continue;
			shown++;
			fprintf(out, "- %s ns [%s, %s], %s: ", signed_value(r->more.value).text,
				signed_value(r->more.lo).text, signed_value(r->more.hi).text,
				bb_verdict_name(r->verdict));
			bb_md_text(bb_timed_row__file(row), out);
			fprintf(out, ":%u ", row->line ? row->line : row->insn);
			bb_md_text(row->call[0] ? row->call : row->text, out);
			putc('\n', out);
		}
	}
}
