/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "judge/diff.h"

#define LEAST_CHANGE 1e-9 /* a smaller change of a mean is a rounding error */

static enum bb_verdict judge(const struct bb_counted_case *a, const struct bb_counted_case *b)
{
	if (!bb_counted_case__counts(a) || !bb_counted_case__counts(b))
		return BB_VERDICT_INCONCLUSIVE;
	if (b->least > a->most)
		return BB_VERDICT_REGRESSED;
	if (b->most < a->least)
		return BB_VERDICT_IMPROVED;
	return bb_counted_case__is_exact(a) && bb_counted_case__is_exact(b)
		       ? BB_VERDICT_SAME
		       : BB_VERDICT_INCONCLUSIVE;
}

/* Returns the part of a case's name after the program's name: "input=syn" or "". */
static const char *rest_of(const struct bb_counted *c, const struct bb_counted_case *k)
{
	size_t len = strlen(c->name);

	return strlen(k->name) > len ? k->name + len : "";
}

static const struct bb_counted *find_program(const struct bb_report *r,
					     const struct bb_counted *like, const char *variant)
{
	return BB_FIND(r->counted, r->n_counted,
		       variant ? !strcmp(it->variant, variant) &&
					 !strcmp(it->scenario, like->scenario)
			       : !strcmp(it->name, like->name));
}

/* Adds up the instructions per run of all lines equal to `like`. *ret_first is the first, or
 * NULL. */
static double per_run(const struct bb_counted *c, const struct bb_counted_line *like,
		      const struct bb_counted_line **ret_first)
{
	double sum = 0;

	*ret_first = NULL;
	for (size_t i = 0; i < c->n_lines; i++) {
		const struct bb_counted_line *l = &c->lines[i];

		if (strcmp(basename(l->file), basename(like->file)) ||
		    strcmp(l->text, like->text) || (!l->text[0] && l->line != like->line))
			continue;
		*ret_first = *ret_first ? *ret_first : l;
		sum += (double)l->instructions;
	}
	return c->runs ? sum / (double)c->runs : 0;
}

static int by_change(const void *a, const void *b)
{
	const struct bb_exact_line *x = a, *y = b;

	return BB_ORDER(fabs(y->more), fabs(x->more));
}

static void add_program(struct bb_exact_diff *d, const struct bb_counted *a,
			const struct bb_counted *b)
{
	struct bb_exact_program *p = bb_append(&d->programs, &d->n_programs, sizeof(*p));
	const struct bb_counted_line *in_a, *in_b;

	*p = (struct bb_exact_program){.a = a, .b = b};
	d->n_only_a += a->n_cases;
	for (size_t i = 0; i < b->n_cases; i++) {
		const struct bb_counted_case *new = &b->cases[i],
					     *old = BB_FIND(a->cases, a->n_cases,
							    !strcmp(rest_of(a, it),
								    rest_of(b, new)));

		d->n_only_a -= old != NULL;
		d->n_only_b += !old;
		if (old)
			BB_PUSH(d->rows, d->n_rows,
				(struct bb_exact_row){new->name, old, new, judge(old, new)});
	}
	p->lines = bb_calloc(a->n_lines + b->n_lines + 1, sizeof(*p->lines));
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct bb_counted_line *l = &b->lines[i];
		double more = per_run(b, l, &in_b) - per_run(a, l, &in_a);

		if (in_b == l && fabs(more) > LEAST_CHANGE)
			p->lines[p->n_lines++] = (struct bb_exact_line){l, more};
	}
	for (size_t i = 0; i < a->n_lines; i++) {
		const struct bb_counted_line *l = &a->lines[i];
		double gone = per_run(a, l, &in_a);

		per_run(b, l, &in_b);
		if (in_a == l && !in_b && l->instructions)
			p->lines[p->n_lines++] = (struct bb_exact_line){l, -gone};
	}
	qsort(p->lines, p->n_lines, sizeof(*p->lines), by_change);
}

int bb_exact_diff__make(const struct bb_report *a, const struct bb_report *b, const char *base,
			const char *head, struct bb_exact_diff *ret_diff, struct bb_err *err)
{
	struct bb_exact_diff d = {0};

	for (size_t i = 0; i < b->n_counted; i++) {
		if (head && strcmp(b->counted[i].variant, head))
			continue;
		const struct bb_counted *old = find_program(a, &b->counted[i], base);
		if (old)
			add_program(&d, old, &b->counted[i]);
		else
			d.n_only_b += b->counted[i].n_cases;
	}
	for (size_t i = 0; !base && i < a->n_counted; i++)
		if (!find_program(b, &a->counted[i], NULL))
			d.n_only_a += a->counted[i].n_cases;
	if (!d.n_rows) {
		bb_exact_diff__done(&d);
		return bb_fail(err, -ENODATA,
			       "nothing to compare: no case of a drive {with: exact} is in both");
	}
	*ret_diff = d;
	return 0;
}

void bb_exact_diff__done(struct bb_exact_diff *d)
{
	for (size_t i = 0; i < d->n_programs; i++)
		free(d->programs[i].lines);
	free(d->programs);
	free(d->rows);
	*d = (struct bb_exact_diff){0};
}

size_t bb_exact_diff__count(const struct bb_exact_diff *d, enum bb_verdict verdict)
{
	return BB_SUM(d->rows, d->n_rows, it->verdict == verdict);
}
