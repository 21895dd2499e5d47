/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"
#include "profile/stacks.h"

/* One run of a program as a flame graph: the program, its lines, and the calls in them. Widths are
 * times, ns, or, of a run in a guest, numbers of instructions. */

/* Makes the stacks of the graph. The caller frees *ret_stacks by bb_stacks__done(). */
void bb_lines_flame__stacks(const struct bb_by_line *lines, struct bb_stacks *ret_stacks);

/* Writes the flame graph as an SVG file or, for a page, as an HTML <figure>. */
void bb_lines_flame__write(const struct bb_by_line *lines, bool as_html, FILE *out);
