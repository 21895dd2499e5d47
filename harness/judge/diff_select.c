/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts and filters the rows of a diff by column. A new column is a new row of the table below. */
#include <fnmatch.h>

#include "base/parse.h"
#include "judge/diff.h"

enum column_kind { TEXT, VERDICT, NUMBER, PERCENT };

static const struct column {
	const char *name;
	enum column_kind kind;
	size_t offset; /* offset in struct bb_diff; only for TEXT and NUMBER */
} columns[] = {
	{"name", TEXT, offsetof(struct bb_diff, name)},
	{"metric", TEXT, offsetof(struct bb_diff, metric)},
	{"a", NUMBER, offsetof(struct bb_diff, a)},
	{"b", NUMBER, offsetof(struct bb_diff, b)},
	{"shift", NUMBER, offsetof(struct bb_diff, shift)},
	{"percent", PERCENT, 0},
	{"p", NUMBER, offsetof(struct bb_diff, p)},
	{"verdict", VERDICT, 0},
	{"note", TEXT, offsetof(struct bb_diff, note)},
};

static const char *text_of(const struct column *c, const struct bb_diff *row)
{
	if (c->kind == VERDICT)
		return row->has_verdict ? bb_verdict_name(row->verdict) : "";
	const char *text = *(char *const *)((const char *)row + c->offset);
	return text ? text : "";
}

/* A verdict is ranked for sorting, the most urgent one lowest. */
static double number_of(const struct column *c, const struct bb_diff *row)
{
	static const double rank[BB_N_VERDICTS] = {
		[BB_VERDICT_REGRESSED] = 0,
		[BB_VERDICT_INCONCLUSIVE] = 1,
		[BB_VERDICT_IMPROVED] = 2,
		[BB_VERDICT_SAME] = 3,
	};

	if (c->kind == VERDICT)
		return row->has_verdict ? rank[row->verdict] : NAN;
	return c->kind == PERCENT ? 100 * (row->ratio - 1)
				  : *(const double *)((const char *)row + c->offset);
}

/* Returns the column whose name is the first `len` bytes of `text`, or NULL with a message. */
static const struct column *find_column(const char *text, size_t len, struct bb_err *err)
{
	const char *names[BB_LEN(columns)], *near;
	char word[32];

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word) - 1),
		 text);
	for (size_t i = 0; i < BB_LEN(columns); i++) {
		names[i] = columns[i].name;
		if (!strcmp(word, columns[i].name))
			return &columns[i];
	}
	/* A single letter gets no suggestion, because it is near each of "a", "b" and "p". */
	near = len > 1 ? bb_nearest(word, names, BB_LEN(columns)) : NULL;
	bb_fail(err, -EINVAL, "no column '%s'%s%s%s " BB_DIFF_COLUMNS, word,
		near ? "; did you mean '" : "; there are:", near ? near : "",
		near ? "'? There are:" : "");
	return NULL;
}

struct order {
	const struct bb_diff *rows;
	const struct column *column;
	bool descending;
};

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct order *o = arg;
	size_t ix = *(const size_t *)x, iy = *(const size_t *)y;
	const struct bb_diff *a = &o->rows[ix], *b = &o->rows[iy];
	int sign;

	if (o->column->kind != TEXT) {
		double va = number_of(o->column, a), vb = number_of(o->column, b);

		if (isnan(va) != isnan(vb))
			return isnan(va) ? 1 : -1;
		sign = BB_ORDER(va, vb);
	} else {
		sign = strcmp(text_of(o->column, a), text_of(o->column, b));
	}
	return (o->descending ? -sign : sign) ?: BB_ORDER(ix, iy);
}

int bb_diff_sort(struct bb_diffs *d, const char *by, struct bb_err *err)
{
	size_t len = strcspn(by, ":"), *index;
	struct order o = {.rows = d->rows, .column = find_column(by, len, err)};

	if (!o.column)
		return -EINVAL;
	if (by[len] && strcmp(by + len, ":asc") && strcmp(by + len, ":desc"))
		return bb_fail(err, -EINVAL, "'%s': a column is sorted :asc or :desc", by);
	o.descending = !strcmp(by + len, ":desc");
	index = bb_calloc(d->n + 1, sizeof(*index));
	struct bb_diff *sorted = bb_calloc(d->n + 1, sizeof(*sorted));
	for (size_t i = 0; i < d->n; i++)
		index[i] = i;
	qsort_r(index, d->n, sizeof(*index), compare_rows, &o);
	for (size_t i = 0; i < d->n; i++)
		sorted[i] = d->rows[index[i]];
	free(index);
	free(d->rows);
	d->rows = sorted;
	return 0;
}

enum {
	BELOW = 1,
	EQUAL = 2,
	ABOVE = 4
}; /* bits of op.holds: is the row's value below, equal to or above the condition's */

/* bb_diff_filter() takes the first operator that matches, so "<=" must stand before "<". */
static const struct op {
	const char *text;
	unsigned int holds;
	bool of_text, of_number;
	/* true if the value is a shell pattern, and EQUAL means that the text matches it */
	bool is_pattern;
} ops[] = {
	{"<=", BELOW | EQUAL, false, true, false}, {">=", ABOVE | EQUAL, false, true, false},
	{"!=", BELOW | ABOVE, true, true, false},  {"!~", BELOW | ABOVE, true, false, true},
	{"==", EQUAL, true, true, false},          {"=", EQUAL, true, true, false},
	{"~", EQUAL, true, false, true},           {"<", BELOW, false, true, false},
	{">", ABOVE, false, true, false},
};
#define BLANKS " \t"

struct condition {
	const struct column *column;
	const struct op *op;
	char value[256];
	double number;
};

static bool is_text(const struct column *c)
{
	return c->kind == TEXT || c->kind == VERDICT;
}

static bool holds(const struct condition *c, const struct bb_diff *row)
{
	int sign;

	if (c->op->is_pattern) {
		sign = fnmatch(c->value, text_of(c->column, row), 0);
	} else if (is_text(c->column)) {
		sign = strcmp(text_of(c->column, row), c->value);
	} else {
		double v = number_of(c->column, row);

		if (isnan(v))
			return false;
		sign = BB_ORDER(v, c->number);
	}
	return c->op->holds & (sign < 0 ? BELOW : sign > 0 ? ABOVE : EQUAL);
}

static void free_texts(struct bb_diff *row)
{
	free(row->name);
	free(row->note);
}

int bb_diff_filter(struct bb_diffs *d, const char *condition, struct bb_err *err)
{
	const char *at = condition + strspn(condition, BLANKS);
	size_t len = strcspn(at, BLANKS "<>=!~");
	struct condition c = {.column = find_column(at, len, err)};
	enum bb_verdict verdict;

	if (!c.column)
		return -EINVAL;
	bool has_text = is_text(c.column);
	at += len;
	at += strspn(at, BLANKS);
	c.op = BB_FIND(ops, BB_LEN(ops), !strncmp(at, it->text, strlen(it->text)));
	if (!c.op || !(has_text ? c.op->of_text : c.op->of_number))
		return bb_fail(err, -EINVAL, "'%s': the column '%s' takes one of %s and a value",
			       condition, c.column->name,
			       has_text ? "= != ~ !~" : "< <= > >= = !=");
	at += strlen(c.op->text);
	at += strspn(at, BLANKS);
	len = strlen(at);
	while (len && strchr(BLANKS, at[len - 1]))
		len--;
	if (len >= sizeof(c.value))
		return bb_fail(err, -EINVAL, "'%s': the value is too long", condition);
	if (c.column->kind == PERCENT && len && at[len - 1] == '%')
		len--;
	snprintf(c.value, sizeof(c.value), "%.*s", (int)len, at);
	if (!has_text && bb_parse_double(c.value, &c.number))
		return bb_fail(err, -EINVAL, "'%s' is no number to compare the column '%s' with",
			       c.value, c.column->name);
	if (c.column->kind == VERDICT && !c.op->is_pattern && len &&
	    bb_verdict_from_name(c.value, &verdict))
		return bb_fail(err, -EINVAL,
			       "no verdict '%s'; there are: regressed, improved, same, "
			       "inconclusive",
			       c.value);
	BB_REMOVE(d->rows, d->n, !holds(&c, it), free_texts(it));
	return 0;
}

void bb_diff_drop_nets(struct bb_diffs *d)
{
	const struct bb_diff *judged = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++) {
		struct bb_diff *row = &d->rows[i];
		bool is_of_judged = judged && !strcmp(judged->name, row->name),
		     is_spare = is_of_judged && !strcmp(row->metric, "net") &&
				(judged->verdict == BB_VERDICT_SAME ||
				 judged->verdict == BB_VERDICT_INCONCLUSIVE);

		if (is_spare) {
			free_texts(row);
			continue;
		}
		d->rows[kept] = *row;
		if (row->has_verdict)
			judged = &d->rows[kept];
		kept++;
	}
	d->n = kept;
}
