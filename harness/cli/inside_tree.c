/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/inside_tree.h"

#include "cli/lines_flame.h"

#define DEPTH 64u /* limit: frames on the way to a path */

struct tree {
	const struct bb_inside_program *p;
	const struct btf *btf;
	struct bb_stacks *stacks;
};

/* The paths on one side of a branch: paths[n], and the frames on the way to them. */
struct side {
	const struct bb_inside_path **paths;
	size_t n;
	uint32_t frames[DEPTH], depth;
};

static void enter(const struct tree *t, struct side *side, const char *name,
		  enum bb_frame_kind kind)
{
	if (side->depth < DEPTH)
		side->frames[side->depth++] = bb_flame_frame(t->stacks, name, kind);
}

/* Enters the frame of the line at block `b`. */
static void enter_line(const struct tree *t, struct side *side, const char *sign, uint32_t b)
{
	uint32_t insn = t->p->cfg.blocks[b].first;
	const struct bpf_line_info *line = t->btf ? bb_code__line_at(&t->p->code, insn) : NULL;
	char *source = line ? bb_line_source(t->btf, line) : bb_asprintf("instruction %u", insn);
	char *name = bb_asprintf("%s%s", sign, source);

	enter(t, side, name, BB_FRAME_USER);
	free(name);
	free(source);
}

/* Adds paths that execute the same blocks. They differ in the turns of their loops, or where they
 * end. */
static void add_leaves(const struct tree *t, const struct side *side)
{
	for (size_t i = 0; i < side->n; i++) {
		const struct bb_inside_path *path = side->paths[i];
		struct side leaf = *side;
		char name[64];

		snprintf(name, sizeof(name), "about %" PRIu64 " turns of its loops", path->turns);
		if (side->n > 1)
			enter(t, &leaf, name, BB_FRAME_NOTE);
		bb_stacks__add(t->stacks, leaf.frames, leaf.depth, (double)path->runs);
	}
}

/* Returns the first block from `b` on that the paths `with` execute and the paths `without` do not;
 * n_blocks: there is none. */
static uint32_t own_block(const struct tree *t, const struct bb_inside_path *with,
			  const struct bb_inside_path *without, uint32_t b)
{
	const struct bb_inside_clone *c = &t->p->clone;

	while (b < t->p->cfg.n_blocks &&
	       (!bb_inside_path__marks(c, with, b) || bb_inside_path__marks(c, without, b)))
		b++;
	return b;
}

/* Returns the first block from `b` on that some of the paths execute and others do not. */
static uint32_t find_branch(const struct tree *t, const struct side *side, uint32_t b)
{
	for (; b < t->p->cfg.n_blocks; b++)
		for (size_t i = 1; i < side->n; i++)
			if (bb_inside_path__marks(&t->p->clone, side->paths[i], b) !=
			    bb_inside_path__marks(&t->p->clone, side->paths[0], b))
				return b;
	return b;
}

/* Adds the paths of a side, which are alike before block `b`. */
static void add_side(const struct tree *t, const struct side *side, uint32_t b)
{
	struct side sides[2] = {*side, *side};

	b = find_branch(t, side, b);
	if (b == t->p->cfg.n_blocks) {
		add_leaves(t, side);
		return;
	}
	for (int i = 0; i < 2; i++) {
		sides[i].n = 0;
		sides[i].paths = bb_calloc(side->n, sizeof(*side->paths));
	}
	for (size_t i = 0; i < side->n; i++) {
		struct side *of = &sides[!bb_inside_path__marks(&t->p->clone, side->paths[i], b)];

		of->paths[of->n++] = side->paths[i];
	}
	for (int i = 0; i < 2; i++) {
		uint32_t own = own_block(t, sides[i].paths[0], sides[!i].paths[0], b);
		bool has_own = own < t->p->cfg.n_blocks;

		enter_line(t, &sides[i], has_own ? "" : "skips ", has_own ? own : b);
		add_side(t, &sides[i], b + 1);
	}
	for (int i = 0; i < 2; i++)
		free(sides[i].paths);
}

void bb_inside_tree(const struct bb_inside_program *p, const struct bb_inside_figures *figures,
		    const struct btf *btf, struct bb_stacks *stacks)
{
	const struct tree t = {p, btf, stacks};
	struct side root = {.paths = bb_calloc(figures->n_paths, sizeof(*root.paths))};

	enter(&t, &root, *p->name ? p->name : "(no name)", BB_FRAME_COMM);
	for (size_t i = 0; i < figures->n_paths; i++) {
		struct side rest = root;

		if (figures->paths[i].key) {
			root.paths[root.n++] = &figures->paths[i];
			continue;
		}
		enter(&t, &rest, "[other paths]", BB_FRAME_NOTE);
		bb_stacks__add(stacks, rest.frames, rest.depth, (double)figures->paths[i].runs);
	}
	if (root.n)
		add_side(&t, &root, 0);
	free(root.paths);
}
