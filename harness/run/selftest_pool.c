/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/selftest_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define ALPHA 0.05

/* NULL: out of memory. */
static struct bb_pooled_program *find_or_add(struct bb_selftest_pool *p, const char *program,
					     enum bb_repeat_class class)
{
	struct bb_pooled_program *row;

	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].class == class && !strcmp(p->v[i].program, program))
			return &p->v[i];
	row = bb_append(&p->v, &p->n, sizeof(*row));
	if (!row)
		return NULL;
	*row = (struct bb_pooled_program){.program = strdup(program), .class = class};
	if (row->program)
		return row;
	p->n--;
	return NULL;
}

static int add_offsets(struct bb_repeat_list *l, const double *ln, size_t n)
{
	double *more = realloc(l->v, (l->n + n) * sizeof(*more));
	int rc = more ? bb_offsets_of(ln, n, more + l->n) : -ENOMEM;

	if (more)
		l->v = more;
	if (!rc)
		l->n += n;
	return rc;
}

int bb_selftest_pool__add(struct bb_selftest_pool *p, const char *program,
			  enum bb_repeat_class class, enum bb_repeat_of of, const double *ln,
			  size_t n)
{
	struct bb_pooled_program *row;
	struct bb_spread *s;

	if (n < BB_REPEAT_LEAST)
		return 0;
	row = find_or_add(p, program, class);
	s = row ? bb_append(&row->spreads[of], &row->n[of], sizeof(*s)) : NULL;
	if (!s)
		return -ENOMEM;
	*s = bb_spread_of(ln, n);
	return add_offsets(&row->offsets[of], ln, n);
}

int bb_selftest_pool__add_repeat(struct bb_selftest_pool *p, const struct bb_repeat *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < r->n_rows; i++)
		for (int of = 0; !rc && of < BB_N_REPEATS; of++)
			rc = bb_selftest_pool__add(p, r->rows[i].program, r->rows[i].class,
						   (enum bb_repeat_of)of, r->rows[i].ln[of].v,
						   r->rows[i].ln[of].n);
	return rc;
}

struct bb_between bb_selftest_pool__between(const struct bb_selftest_pool *p)
{
	struct bb_between b = {.n_selftests = 0};

	for (int class = 0; class < BB_N_REPEAT_CLASSES; class ++)
		for (int of = 0; of < BB_N_REPEATS; of++)
			b.of[class][of] = (struct bb_pooled_spread){NAN, NAN};
	for (size_t i = 0; i < p->n; i++)
		for (int of = 0; of < BB_N_REPEATS; of++) {
			const struct bb_pooled_program *row = &p->v[i];
			struct bb_pooled_spread s = bb_pool_spreads(row->spreads[of], row->n[of],
								    row->offsets[of].v,
								    row->offsets[of].n, ALPHA);

			b.n_selftests = row->n[of] > b.n_selftests ? row->n[of] : b.n_selftests;
			if (!isnan(s.half_width) &&
			    !(s.half_width <= b.of[row->class][of].half_width))
				b.of[row->class][of] = s;
		}
	return b;
}

void bb_selftest_pool__done(struct bb_selftest_pool *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].program);
		for (int of = 0; of < BB_N_REPEATS; of++) {
			free(p->v[i].spreads[of]);
			free(p->v[i].offsets[of].v);
		}
	}
	free(p->v);
	*p = (struct bb_selftest_pool){0};
}
