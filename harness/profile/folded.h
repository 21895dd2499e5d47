/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FOLDED_H
#define BB_PROFILE_FOLDED_H

#include "base/err.h"
#include "profile/tree.h"

#define BB_FOLDED_FRAMES 1024u		/* of a stack, at the most */

/*
 * Read folded stacks, those of bb_tree__write_folded() or of any flame graph tool: lines "outermost;...;innermost weight", in
 * any order, the same stack as often as it likes. Names keep no suffix (_[k], ...): it is the frame's kind; the first frame is
 * the process. The tree is summed up. -EINVAL with file and line for what is no such line; -EFBIG for more than 64 MB,
 * stacks of more than BB_FOLDED_FRAMES or weights that add up to more than 2^53, which is as far as browsers count;
 * -ENOMEM; other -errno when the file cannot be read.
 */
int bb_folded__read(const char *path, struct bb_tree *ret_tree, struct bb_err *err);

#endif
