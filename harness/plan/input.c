/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plan/input.h"

#include <stdlib.h>

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
