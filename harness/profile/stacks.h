/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "profile/symtab.h"

/* The kinds of frames. */
enum bb_frame_kind {
	BB_FRAME_COMM,    /* the name of the process, which is the outermost frame */
	BB_FRAME_USER,    /* a function in user space */
	BB_FRAME_INLINED, /* a function that is inlined into the frame outside it */
	BB_FRAME_JIT,     /* a function that a JIT compiled */
	BB_FRAME_KERNEL,  /* a function of the kernel */
	BB_FRAME_OFF_CPU, /* stands for time off the CPU, as the innermost frame of its stack */
	BB_FRAME_NOTE,    /* says that the stack is cut or lost */
	BB_N_FRAME_KINDS,
};

/* Names of frames that are not functions. */
#define BB_NOTE_CUT "[cut: the stack is deeper]"
#define BB_NOTE_LOST "[stack lost]"
#define BB_NOTE_OFF_CPU "[off-CPU]"

/* A frame of stacks: one function, or a text in place of a function. */
struct bb_frame {
	uint32_t name; /* index of the function's name in bb_stacks.names */
	uint32_t file; /* index of the source file's path in bb_stacks.names; BB_NO_ID: unknown */
	uint32_t line; /* line in that file; 0: unknown */
	enum bb_frame_kind kind;
	/* start of the function (0: unknown), and distance from there to the sampled address,
	 * bytes */
	uint64_t start, distance;
};

/* A stack of n frames: bb_stacks.parts[first .. first + n) are their indexes, outermost first. */
struct bb_stack {
	size_t first;
	uint32_t n;
	/* number of outer frames that this stack shares with the stack before it; set by
	 * bb_stacks__sort() */
	uint32_t shared;
	double weight; /* samples or time; whole and above 0 after bb_stacks__sort() */
};

/* Folded stacks: each distinct stack once, with the sum of its weights. They are sorted by their
 * frames, so that stacks with the same outer frames are neighbours. A zeroed bb_stacks is empty. */
struct bb_stacks {
	struct bb_names names;
	/* frames[n_frames]; bb_stacks__sort() sorts them by name and kind */
	struct bb_frame *frames;
	size_t n_frames;
	/* (name and kind, index of the next outer function at the same address) -> index of the
	 * frame; valid until bb_stacks__sort() */
	struct bb_idmap by_name;
	uint32_t *parts; /* parts[n_parts]: indexes of the frames of all stacks */
	size_t n_parts, parts_size;
	struct bb_stack *v; /* v[n] */
	size_t n;
	uint64_t total; /* sum of weights; set by bb_stacks__sort() */
};

/* Adds a stack of the frames with the indexes frames[n], outermost first. */
void bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight);

/* Returns the index of the frame that has the name and kind of `*frame` and was added with the same
 * `before`. Adds `*frame` if there is none. `before` is the index of the next outer function at the
 * same address, or BB_NO_ID. */
uint32_t bb_stacks__intern_frame(struct bb_stacks *s, const struct bb_frame *frame,
				 uint32_t before);

/* Returns the index of the frame with this name and kind and no address, and adds the frame if it
 * is new. Bytes of the name that a terminal would interpret become '?'. */
uint32_t bb_stacks__frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind);

/* Sorts frames and stacks, merges equal stacks, and rounds the weights to whole numbers, which
 * drops stacks whose weight is below 0.5. Call it after the last stack is added. */
void bb_stacks__sort(struct bb_stacks *s);

static inline const char *bb_stacks__name(const struct bb_stacks *s, uint32_t frame)
{
	return bb_names__text(&s->names, s->frames[frame].name);
}

/* Writes one line per stack, as flame graph tools read it: "comm;outermost;...;innermost weight".
 * Names of kernel functions end in _[k], of inlined functions in _[i], of JIT functions in _[j]. In
 * a name, ';' becomes ':', and a control character '?'. The caller checks `out` for errors. */
void bb_stacks__write_folded(const struct bb_stacks *s, FILE *out);

void bb_stacks__done(struct bb_stacks *s);

#define BB_FOLDED_FRAMES 1024u /* limit: frames of one stack in a file of folded stacks */

/*
 * Reads folded stacks that bb_stacks__write_folded() or a flame graph tool wrote: lines
 * "outermost;...;innermost weight" in any order. The same stack may stand on several lines. A
 * suffix such as _[k] sets the kind of a frame. The first frame is the process. The result is
 * sorted; free it with bb_stacks__done().
 *
 * Errors: -EINVAL with file and line for a line of another form, or for a stack of more than
 * BB_FOLDED_FRAMES; -EFBIG for a file of more than 64 MB, or a sum of weights above 2^53 (the
 * largest whole number that browsers can count to); other -errno if the file cannot be read.
 */
int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err);

struct bb_text_opts {
	const char *title;
	const char *unit; /* unit of the weights: "samples", "us" */
	bool verbose;     /* true: frames are written as "function @ base+offset file:line" */
};

/* Writes the hottest functions, with their own weight and the weight with their callees, and the
 * hottest stacks. */
void bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out);

struct bb_flame_opts {
	const char *title;
	const char *unit; /* unit of the weights: "samples", "us" */
	/* legend[BB_N_FRAME_KINDS]: names in the legend for the kinds of frames; NULL: the names
	 * for a profile. A kind whose name is NULL is not in the legend. */
	const char *const *legend;
	/* limit of the bytes of all frames; 0: 1.95 MB. The rest of the file takes about 8 kB
	 * more. */
	size_t max_bytes;
};

/* Writes a flame graph (Gregg 2016) of sorted stacks as one SVG file. In a browser it can be zoomed
 * and searched. It leaves out frames narrower than 0.1 px. If the frames need more than
 * opts->max_bytes, it leaves out the narrowest of them, too. The file says how narrow the left-out
 * frames are. The same stacks give the same bytes. The caller checks `out` for errors. */
void bb_flame__write(const struct bb_stacks *stacks, const struct bb_flame_opts *opts, FILE *out);

/* Writes the graph of bb_flame__write() as a <figure> for an HTML page, as wide as the page.
 * Colours around the frames come from the page's CSS variables --ink, --faint and --paper. A page
 * may hold several graphs. */
void bb_flame__write_html(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			  FILE *out);
