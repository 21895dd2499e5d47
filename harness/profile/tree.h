/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_PROFILE_TREE_H
#define BB_PROFILE_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/names.h"

/* What a frame of a stack is. */
enum bb_frame_kind {
	BB_FRAME_COMM,		/* the process, at the root */
	BB_FRAME_USER,
	BB_FRAME_INLINED,
	BB_FRAME_JIT,
	BB_FRAME_KERNEL,
	BB_FRAME_OFF_CPU,	/* above the innermost frame: time off the CPU */
	BB_FRAME_NOTE,		/* about the stack: cut, lost */
	BB_N_FRAME_KINDS,
};

/* What stands at the end of the names of a kind in folded stacks; NULL: nothing. */
extern const char *const bb_frame_suffixes[BB_N_FRAME_KINDS];

/* The names of frames that are no functions. */
#define BB_NOTE_CUT	"[cut: the stack is deeper]"
#define BB_NOTE_LOST	"[stack lost]"
#define BB_NOTE_OFF_CPU	"[off-CPU]"

/*
 * Stacks folded into each other: a node for each way from the root that was sampled. Node 0 is the root and has no name. A
 * node comes after its parent.
 */
struct bb_tree_node {
	uint32_t parent, first_child, next_sibling;	/* BB_NO_ID */
	uint32_t name;
	uint32_t detail;	/* a number of the caller's, of the first frame that was added here */
	uint8_t kind;		/* enum bb_frame_kind */
	uint64_t self, total;	/* total: after bb_tree__sum() */
};

struct bb_tree {
	struct bb_names names;
	struct bb_tree_node *nodes;
	size_t n, size;
};

/* The root. 0 or -ENOMEM. */
int bb_tree__init(struct bb_tree *t);

/*
 * The latest child of `parent` if it has that name and kind, and otherwise a new one: stacks are added in an order in which
 * those that begin alike are neighbours. 0 or -ENOMEM.
 */
int bb_tree__next_child(struct bb_tree *t, uint32_t parent, uint32_t name, enum bb_frame_kind kind, uint32_t detail,
			uint32_t *ret_child);

/* After the last weight was added to a node's `self`. */
void bb_tree__sum(struct bb_tree *t);

static inline const char *bb_tree__name(const struct bb_tree *t, uint32_t node)
{
	return bb_names__text(&t->names, t->nodes[node].name);
}

/*
 * One line a stack, as flame graph tools take it: "comm;outermost;...;innermost weight". As theirs, names of kernel functions end
 * in _[k], of inlined ones in _[i], of a JIT's in _[j]. A ';' or control character in a name is written as ':' or '?'.
 * 0 or -ENOMEM; errors of `out` are its own.
 */
int bb_tree__write_folded(const struct bb_tree *t, FILE *out);

void bb_tree__done(struct bb_tree *t);

#endif
