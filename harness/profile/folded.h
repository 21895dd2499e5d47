/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FOLDED_H
#define BB_PROFILE_FOLDED_H

#include "base/err.h"
#include "profile/stacks.h"

#define BB_FOLDED_FRAMES 1024u /* of a stack, at the most */

/*
 * Read folded stacks, those of bb_stacks__write_folded() or of any flame graph tool: lines
 * "outermost;...;innermost weight", in any order, the same stack as often as it likes. Names keep
 * no suffix (_[k], ...): it is the frame's kind; the first frame is the process. The result is
 * sorted. -EINVAL with file and line for any other line, and for stacks of more than
 * BB_FOLDED_FRAMES; -EFBIG for more than 64 MB, or weights that add up to more than 2^53, which is
 * as far as browsers count; -ENOMEM; other -errno when the file cannot be read.
 */
int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err);

#endif
