/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/run_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

void bb_run_index__done(struct bb_run_index *x)
{
	free(x->runs);
	free(x->points);
	free(x->cases);
	free(x->machines);
	free(x->texts);
	memset(x, 0, sizeof(*x));
}

int bb_run_index__add_text(struct bb_run_index *x, const char *text, bb_text_at *ret_at)
{
	size_t at = x->n_texts ? x->n_texts : 1, end = at + (text ? strlen(text) + 1 : 0);

	*ret_at = 0;
	if (!text)
		return 0;
	if (end > UINT32_MAX || bb_reserve(&x->texts, end, &x->size_texts, 1))
		return -ENOMEM;
	x->texts[0] = '\0';
	memcpy(x->texts + at, text, end - at);
	x->n_texts = end;
	*ret_at = (bb_text_at)at;
	return 0;
}

const struct bb_index_run *bb_run_index__find(const struct bb_run_index *x, const char *name)
{
	size_t from = 0, to = x->n_runs;

	while (from < to) {
		size_t middle = from + (to - from) / 2;
		int order = strcmp(name, bb_index_text(x, x->runs[middle].name));

		if (!order)
			return &x->runs[middle];
		if (order < 0)
			to = middle;
		else
			from = middle + 1;
	}
	return NULL;
}
