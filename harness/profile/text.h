/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_TEXT_H
#define BB_PROFILE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/stacks.h"

struct bb_text_opts {
	const char *title, *unit;
	bool verbose; /* each frame as "function @ base+offset file:line" */
};

/* The hottest functions, by themselves and with the functions that they called, and the hottest
 * stacks. 0 or -ENOMEM. */
int bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out);

#endif
