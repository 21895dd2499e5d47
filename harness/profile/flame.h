/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_FLAME_H
#define BB_PROFILE_FLAME_H

#include <stdio.h>

#include "profile/stacks.h"

struct bb_flame_opts {
	const char *title;
	const char *unit; /* of weights: "samples", "us" */
	/* by kind of frame, its name in the legend, NULL: in none; NULL: those of a profile */
	const char *const *legend;
	size_t max_bytes; /* for frames; 0: 1.95 MB. Head, style and script are some 8 kB */
};

/*
 * A flame graph (Gregg 2016) of the folded stacks as one SVG file: to be read as it is, and in a
 * browser to zoom into and to search. A pure function of the stacks, which are sorted. Frames
 * narrower than 0.1 px are left out, and, where the file would be larger than 2 MB, the narrowest
 * of the others; the file says how narrow. 0 or -ENOMEM; errors of `out` are its own.
 */
int bb_flame__write(const struct bb_stacks *stacks, const struct bb_flame_opts *opts, FILE *out);

/*
 * The same as a <figure> of an HTML page, as wide as there is room: on a phone, too. Colours around
 * the frames are the page's (its variables --ink, --faint, --paper). There may be several on a
 * page.
 */
int bb_flame__write_html(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			 FILE *out);

#endif
