/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/fired_by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text, bool *ok)
{
	char *copy = text ? strdup(text) : NULL;

	*ok &= !text || copy;
	return copy;
}

int bb_fired_by__copy(const struct bb_fired_by *from, struct bb_fired_by *ret_copy)
{
	struct bb_fired_by f = {0};
	bool ok = true;

	f.trigger = copy_text(from->trigger, &ok);
	f.call = copy_text(from->call, &ok);
	if (from->n_arguments)
		f.arguments = calloc(from->n_arguments, sizeof(*f.arguments));
	for (; f.arguments && f.n_arguments < from->n_arguments; f.n_arguments++) {
		f.arguments[f.n_arguments] = from->arguments[f.n_arguments];
		f.arguments[f.n_arguments].text = copy_text(from->arguments[f.n_arguments].text,
							    &ok);
	}
	if (from->n_run)
		f.run = calloc(from->n_run + 1, sizeof(*f.run));
	for (; f.run && f.n_run < from->n_run; f.n_run++)
		f.run[f.n_run] = copy_text(from->run[f.n_run], &ok);
	*ret_copy = f;
	ok &= f.n_arguments == from->n_arguments && f.n_run == from->n_run;
	return ok ? 0 : -ENOMEM;
}

void bb_fired_by__done(struct bb_fired_by *f)
{
	for (size_t i = 0; i < f->n_arguments; i++)
		free(f->arguments[i].text);
	for (size_t i = 0; i < f->n_run; i++)
		free(f->run[i]);
	free(f->arguments);
	free(f->run);
	free(f->trigger);
	free(f->call);
	*f = (struct bb_fired_by){0};
}
