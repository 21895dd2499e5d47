/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FLAME_H
#define BB_PROFILE_FLAME_H

#include <stdio.h>

#include "profile/tree.h"

struct bb_flame_opts {
	const char *title;
	const char *unit;	/* of weights: "samples", "us" */
};

/*
 * A flame graph (Gregg 2016) of the folded stacks as one SVG file: to be read as it is, and in a browser to zoom into and to
 * search. A pure function of the tree. Frames narrower than 0.1 px, or than what keeps the file below 2 MB, are left
 * out; the file says how narrow. 0 or -ENOMEM; errors of `out` are its own.
 */
int bb_flame__write(const struct bb_tree *tree, const struct bb_flame_opts *opts, FILE *out);

#endif
