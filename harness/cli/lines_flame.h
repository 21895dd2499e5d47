/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "judge/by_line.h"
#include "profile/stacks.h"

/* One run of a program as a flame graph: the program, its lines, and the calls in them. Widths are
 * ns, or machine instructions if the program ran in a guest of --vm. */

/* Free *ret_stacks by bb_stacks__done(). */
void bb_lines_flame__stacks(const struct bb_by_line *lines, struct bb_stacks *ret_stacks);

/* Writes an SVG file or, if `as_html`, an HTML <figure>. */
void bb_lines_flame__write(const struct bb_by_line *lines, bool as_html, FILE *out);
