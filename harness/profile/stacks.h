/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/symtab.h"

enum bb_frame_kind {
	BB_FRAME_COMM, /* the name of the process, which is the outermost frame */
	BB_FRAME_USER,
	BB_FRAME_INLINED, /* a function that is inlined into the frame outside it */
	BB_FRAME_JIT,
	BB_FRAME_KERNEL,
	BB_FRAME_OFF_CPU, /* stands for time off the CPU, as the innermost frame of its stack */
	BB_FRAME_NOTE,    /* says that the stack is cut or lost */
	BB_N_FRAME_KINDS,
};

/* Names of frames that are not functions. */
#define BB_NOTE_CUT "[cut: the stack is deeper]"
#define BB_NOTE_LOST "[stack lost]"
#define BB_NOTE_OFF_CPU "[off-CPU]"

/* One function, or a text in place of a function. */
struct bb_frame {
	uint32_t name; /* index in bb_stacks.names */
	uint32_t file; /* source file, index in bb_stacks.names; BB_NO_ID if unknown */
	uint32_t line; /* 0 if unknown */
	enum bb_frame_kind kind;
	/* start of the function (0 if unknown), and bytes from there to the sampled address */
	uint64_t start, distance;
};

/* bb_stacks.parts[first .. first + n) are the indexes of the frames, outermost first. */
struct bb_stack {
	size_t first;
	uint32_t n;
	/* number of outer frames shared with the stack before; set by bb_stacks__sort() */
	uint32_t shared;
	double weight; /* samples or time; whole and above 0 after bb_stacks__sort() */
};

/* Each distinct stack once, with the sum of its weights. bb_stacks__sort() makes stacks with the
 * same outer frames neighbours. A zeroed bb_stacks is empty. */
struct bb_stacks {
	struct bb_names names;
	struct bb_frame *frames; /* bb_stacks__sort() sorts them by name and kind */
	size_t n_frames;
	/* (name and kind, index of the next outer function at one address) -> index of the frame */
	struct bb_idmap by_name;
	uint32_t *parts; /* indexes of the frames of all stacks */
	size_t n_parts, parts_size;
	struct bb_stack *v;
	size_t n;
	uint64_t total; /* sum of weights; set by bb_stacks__sort() */
};

/* Adds a stack of the frames with the indexes frames[n], outermost first. */
void bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight);

/* Returns the index of the frame that has the name and kind of `*frame` and was added with this
 * `before`, and adds it if it is new. `before` is the index of the next outer function at the same
 * address, or BB_NO_ID. */
uint32_t bb_stacks__intern_frame(struct bb_stacks *s, const struct bb_frame *frame,
				 uint32_t before);

/* Returns the index of the frame with this name and kind and no address, and adds it if it is new.
 * Bytes of the name that a terminal would interpret become '?'. */
uint32_t bb_stacks__frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind);

/* Sorts frames and stacks, merges equal stacks, and rounds the weights to whole numbers, which
 * drops stacks below 0.5. Call it after the last stack is added. */
void bb_stacks__sort(struct bb_stacks *s);

static inline const char *bb_stacks__name(const struct bb_stacks *s, uint32_t frame)
{
	return bb_names__text(&s->names, s->frames[frame].name);
}

/* Writes a line for each of the sorted stacks, as flame graph tools read it:
 * "comm;outermost;...;innermost weight". Names of kernel functions end in _[k], of inlined
 * functions in _[i], of JIT functions in _[j]. In a name, ';' becomes ':', and a control character
 * '?'. The caller checks `out` for errors. */
void bb_stacks__write_folded(const struct bb_stacks *s, FILE *out);

void bb_stacks__done(struct bb_stacks *s);

#define BB_FOLDED_FRAMES 1024u /* most frames of one stack in a file of folded stacks */

/* Reads folded stacks of bb_stacks__write_folded() or a flame graph tool: lines
 * "outermost;...;innermost weight" in any order. A suffix such as _[k] sets the kind of a frame.
 * The first frame is the process. The result is sorted. Returns 0, or -errno with a message.
 * -EINVAL means a line of another form, or more than BB_FOLDED_FRAMES in a stack. -EFBIG means more
 * than 64 MB, or a sum of weights above 2^53 (the largest whole number that browsers can count
 * to). */
int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err);

struct bb_text_opts {
	const char *title;
	const char *unit; /* unit of the weights: "samples", "us" */
	bool verbose;     /* write frames as "function @ base+offset file:line" */
};

/* Writes the hottest stacks, and the hottest functions with their weights alone and with
 * callees. */
void bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out);

struct bb_flame_opts {
	const char *title;
	const char *unit;
	/* names of the kinds, with NULL for a kind to leave out; NULL for the names of a profile */
	const char *const *legend;
	/* limit of the bytes of all frames, 0 for 1.95 MB; the rest of the file takes about 8 kB */
	size_t max_bytes;
};

/* Writes a flame graph (Gregg 2016) of sorted stacks as one SVG file that can be zoomed and
 * searched in a browser. Leaves out frames narrower than 0.1 px and, if all need more than
 * opts->max_bytes, the narrowest others. Equal stacks give equal bytes. The caller checks `out` for
 * errors. */
void bb_flame__write(const struct bb_stacks *stacks, const struct bb_flame_opts *opts, FILE *out);

/* Writes the graph of bb_flame__write() as a <figure> for an HTML page. Colours come from the
 * page's CSS variables --ink, --faint and --paper. A page may hold several graphs. */
void bb_flame__write_html(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			  FILE *out);
