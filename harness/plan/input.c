/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* NULL only where `from` is, or when out of memory. */
static uint8_t *copy_bytes(const uint8_t *from, size_t len, bool *ok)
{
	uint8_t *copy = from ? malloc(len + 1) : NULL;

	if (copy)
		memcpy(copy, from, len);
	*ok &= !from || copy;
	return copy;
}

int bb_inputs__copy(const struct bb_inputs *from, struct bb_inputs *ret_inputs)
{
	bool ok = true;

	*ret_inputs = (struct bb_inputs){0};
	if (!from->n)
		return 0;
	ret_inputs->v = calloc(from->n, sizeof(*ret_inputs->v));
	if (!ret_inputs->v)
		return -ENOMEM;
	for (size_t i = 0; ok && i < from->n; i++) {
		const struct bb_input *in = &from->v[i];
		struct bb_input *copy = &ret_inputs->v[ret_inputs->n++];

		*copy = *in;
		copy->name = strdup(in->name);
		ok = copy->name != NULL;
		copy->data = copy_bytes(in->data, in->len, &ok);
		copy->out = copy_bytes(in->out, in->out_len, &ok);
		copy->ctx = copy_bytes(in->ctx, in->ctx_len, &ok);
	}
	return ok ? 0 : -ENOMEM;
}

void bb_inputs__done(struct bb_inputs *inputs)
{
	if (!inputs)
		return;
	for (size_t i = 0; i < inputs->n; i++) {
		free(inputs->v[i].name);
		free(inputs->v[i].data);
		free(inputs->v[i].ctx);
		free(inputs->v[i].out);
	}
	free(inputs->v);
	*inputs = (struct bb_inputs){0};
}
