/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"
#include "profile/stacks.h"

/* One run of a program as a flame graph: the program, its lines, and the calls in them. Widths are
 * ns, or machine instructions if the program ran in a guest of --vm. */

struct bb_lines_flame {
	struct bb_stacks stacks;   /* free them by bb_stacks__done() */
	struct bb_flame_opts opts; /* points to `title` */
	char title[300];
};

void bb_lines_flame__make(const struct bb_by_line *lines, struct bb_lines_flame *ret_flame);
