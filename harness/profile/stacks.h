/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/symtab.h"

/* The kinds of frames. */
enum bb_frame_kind {
	BB_FRAME_COMM, /* the process, at the root */
	BB_FRAME_USER,
	BB_FRAME_INLINED,
	BB_FRAME_JIT,
	BB_FRAME_KERNEL,
	BB_FRAME_OFF_CPU, /* time off the CPU; the innermost frame of its stack */
	BB_FRAME_NOTE,    /* a note about the stack: cut, lost */
	BB_N_FRAME_KINDS,
};

/* Names of frames that are not functions. */
#define BB_NOTE_CUT "[cut: the stack is deeper]"
#define BB_NOTE_LOST "[stack lost]"
#define BB_NOTE_OFF_CPU "[off-CPU]"

/* One function at a sampled address. */
struct bb_frame {
	uint32_t name; /* index in bb_stacks.names */
	uint32_t file; /* index in bb_stacks.names; BB_NO_ID: unknown */
	uint32_t line; /* 0: unknown */
	enum bb_frame_kind kind;
	/* start of the function (0: unknown); distance of the address from `start`, bytes */
	uint64_t start, distance;
};

/* A stack. Its frames are bb_stacks.parts[first .. first + n), as indexes of frames, outermost
 * first. */
struct bb_stack {
	size_t first;
	uint32_t n;
	/* number of outer frames that this stack has in common with the stack before it; set by
	 * bb_stacks__sort() */
	uint32_t shared;
	double weight; /* a whole number above 0 after bb_stacks__sort() */
};

/* Folded stacks: every distinct stack once, sorted by frames, so that stacks with the same
 * beginning are neighbours. */
struct bb_stacks {
	struct bb_names names;
	/* in the order of display after bb_stacks__sort() */
	struct bb_frame *frames;
	size_t n_frames;
	struct bb_idmap by_name; /* (name and kind, index of the frame before) -> index of the
				    frame; valid until bb_stacks__sort() */
	uint32_t *parts;
	size_t n_parts, parts_size;
	struct bb_stack *v;
	size_t n, size;
	uint64_t total; /* sum of weights; set by bb_stacks__sort() */
};

/* Adds a frame, or a stack of n frames given by index. The index of a new frame is the old
 * n_frames. A zeroed bb_stacks is empty. */
void bb_stacks__add_frame(struct bb_stacks *s, const struct bb_frame *frame);
void bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight);

/* Returns the index of the frame that was added with the same name, kind and `before`. Adds the
 * frame if it is new. `before` is the index of the next outer frame at the same address, or
 * BB_NO_ID. */
uint32_t bb_stacks__intern_frame(struct bb_stacks *s, const struct bb_frame *frame,
				 uint32_t before);

/* Returns the index of the frame with this name and kind and no address. Adds the frame if it is
 * new. Bytes of the name that a terminal would interpret become '?'. */
uint32_t bb_stacks__frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind);

/* Sorts frames and stacks, and merges equal stacks. Call it after the last stack is added. Drops
 * stacks with a weight below 0.5. */
void bb_stacks__sort(struct bb_stacks *s);

static inline const char *bb_stacks__name(const struct bb_stacks *s, uint32_t frame)
{
	return bb_names__text(&s->names, s->frames[frame].name);
}

/* Writes one line per stack, as flame graph tools read it: "comm;outermost;...;innermost weight".
 * Names of kernel functions end in _[k], of inlined functions in _[i], of JIT functions in _[j]. A
 * ';' in a name becomes ':', a control character '?'. The caller checks `out` for errors. */
void bb_stacks__write_folded(const struct bb_stacks *s, FILE *out);

void bb_stacks__done(struct bb_stacks *s);

#define BB_FOLDED_FRAMES 1024u /* limit: frames of a stack in a file */

/*
 * Reads folded stacks of bb_stacks__write_folded() or of a flame graph tool: lines
 * "outermost;...;innermost weight" in any order, with repetitions. A suffix such as _[k] becomes
 * the kind of the frame; the first frame is the process. The result is sorted.
 *
 * Errors: -EINVAL with file and line for any other line, or for a stack of more than
 * BB_FOLDED_FRAMES; -EFBIG for more than 64 MB, or a sum of weights above 2^53 (the limit of
 * browsers); other -errno if the file cannot be read.
 */
int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err);

struct bb_text_opts {
	const char *title, *unit;
	bool verbose; /* write frames as "function @ base+offset file:line" */
};

/* Writes the hottest functions, by their own weight and by their weight with callees, and the
 * hottest stacks. */
void bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out);

struct bb_flame_opts {
	const char *title;
	const char *unit; /* unit of the weights: "samples", "us" */
	/* names in the legend, by kind of frame; NULL: the names for a profile. If an entry is
	 * NULL, its kind is not in the legend */
	const char *const *legend;
	size_t max_bytes; /* limit of the bytes of all frames; 0: 1.95 MB. The rest of the file
			     takes about 8 kB more */
};

/*
 * Writes a flame graph (Gregg 2016) of sorted stacks as one SVG file. In a browser it can be zoomed
 * and searched. Frames narrower than 0.1 px are left out. If the frames need more than
 * opts->max_bytes, the narrowest of them are left out too. The file says which are left out. The
 * same stacks give the same bytes. The caller checks `out` for errors.
 */
void bb_flame__write(const struct bb_stacks *stacks, const struct bb_flame_opts *opts, FILE *out);

/* Writes the same graph as a <figure> for an HTML page, as wide as the page. Colours around the
 * frames come from the page's variables --ink, --faint and --paper. A page may hold several
 * graphs. */
void bb_flame__write_html(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			  FILE *out);
