/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/ab.h"

static int add(double **x, size_t *n, size_t *size, const struct bb_batch *b)
{
	while (*n + b->n > *size) {
		size_t more = *size ? 2 * *size : 4096;
		double *grown = reallocarray(*x, more, sizeof(**x));

		if (!grown)
			return -ENOMEM;
		*x = grown;
		*size = more;
	}
	for (size_t i = 0; i < b->n; i++)
		(*x)[(*n)++] = (double)b->ns[i];
	return 0;
}

int bb_ab_trace__add(struct bb_ab_trace *t, bool is_head, const struct bb_batch *b)
{
	return is_head ? add(&t->head_ns, &t->n_head, &t->size_head, b)
		       : add(&t->base_ns, &t->n_base, &t->size_base, b);
}

void bb_ab_trace__done(struct bb_ab_trace *t)
{
	if (!t)
		return;
	free(t->base_ns);
	free(t->head_ns);
	memset(t, 0, sizeof(*t));
}
