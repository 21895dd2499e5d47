/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_STACKS_H
#define BB_PROFILE_STACKS_H

#include "base/err.h"
#include "base/std.h"
#include "profile/symtab.h"

/* The kinds of frames. */
enum bb_frame_kind {
	BB_FRAME_COMM, /* the process, at the root */
	BB_FRAME_USER,
	BB_FRAME_INLINED,
	BB_FRAME_JIT,
	BB_FRAME_KERNEL,
	BB_FRAME_OFF_CPU, /* above the innermost frame: time off the CPU */
	BB_FRAME_NOTE,    /* about the stack: cut, lost */
	BB_N_FRAME_KINDS,
};

/* The names of frames that are no functions. */
#define BB_NOTE_CUT "[cut: the stack is deeper]"
#define BB_NOTE_LOST "[stack lost]"
#define BB_NOTE_OFF_CPU "[off-CPU]"

/* One function at a sampled address. */
struct bb_frame {
	uint32_t name; /* of the names, like `file` */
	uint32_t file; /* BB_NO_ID: not known */
	uint32_t line; /* 0: not known */
	enum bb_frame_kind kind;
	/* of the function, and how far in; `start` 0 when it is not known */
	uint64_t start, distance;
};

/* A stack: parts[first .. first + n) are the numbers of its frames, outermost first. */
struct bb_stack {
	size_t first;
	uint32_t n;
	/* how many of the outer ones the stack before it has, too; after bb_stacks__sort() */
	uint32_t shared;
	double weight; /* whole, and not 0, after bb_stacks__sort() */
};

/* Folded stacks: each that is distinct once, in the order of their frames, so that those that begin
 * alike are neighbours. */
struct bb_stacks {
	struct bb_names names;
	/* after __sort, in the order in which those below one frame are shown */
	struct bb_frame *frames;
	size_t n_frames;
	struct bb_idmap by_name; /* (name and kind, the frame before it) -> frame, until __sort */
	uint32_t *parts;
	size_t n_parts, parts_size;
	struct bb_stack *v;
	size_t n, size;
	uint64_t total; /* weight; after bb_stacks__sort() */
};

/* Zeroed is empty. A frame more, whose number is n_frames; a stack more. 0 or -ENOMEM. */
int bb_stacks__add_frame(struct bb_stacks *s, const struct bb_frame *frame);
int bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight);

/* The number of the frame of that name and kind behind the frame `before` (BB_NO_ID: any), which is
 * added when it was not there. 0 or -ENOMEM. */
int bb_stacks__intern_frame(struct bb_stacks *s, const struct bb_frame *frame, uint32_t before,
			    uint32_t *ret_number);

/* After the last frame and stack: put both in order, and merge equal stacks. A stack that weighs
 * less than a half is dropped. 0 or -ENOMEM. */
int bb_stacks__sort(struct bb_stacks *s);

static inline const char *bb_stacks__name(const struct bb_stacks *s, uint32_t frame)
{
	return bb_names__text(&s->names, s->frames[frame].name);
}

/*
 * One line a stack, as flame graph tools take it: "comm;outermost;...;innermost weight". As theirs,
 * names of kernel functions end in _[k], of inlined ones in _[i], of a JIT's in _[j]. A ';' or
 * control character in a name is written as ':' or '?'. Errors of `out` are its own.
 */
void bb_stacks__write_folded(const struct bb_stacks *s, FILE *out);

void bb_stacks__done(struct bb_stacks *s);

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

struct bb_text_opts {
	const char *title, *unit;
	bool verbose; /* each frame as "function @ base+offset file:line" */
};

/* The hottest functions, by themselves and with the functions that they called, and the hottest
 * stacks. 0 or -ENOMEM. */
int bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out);

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
