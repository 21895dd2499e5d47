/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_LINES_FLAME_H
#define BB_CLI_LINES_FLAME_H

#include "base/std.h"
#include "judge/by_line.h"
#include "profile/stacks.h"

/* One run as a flame graph: the program, its lines, the calls in them, as wide as their time in ns.
 */

/* 0 or -ENOMEM; bb_stacks__done() it, whatever is returned. */
int bb_lines_flame__stacks(const struct bb_by_line *lines, struct bb_stacks *ret_stacks);

/* As an SVG file, or as a <figure> of a page. 0 or -ENOMEM. */
int bb_lines_flame__write(const struct bb_by_line *lines, bool as_html, FILE *out);

#endif
