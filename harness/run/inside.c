/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/inside.h"

#include <bpf/btf.h>

#include "run/record.h"

struct bb_inside_path_name bb_inside_path_name(const struct bb_inside_path *p)
{
	struct bb_inside_path_name name = {"rest"};

	if (p->key >> 32)
		snprintf(name.text, sizeof(name.text), "%08" PRIx32, (uint32_t)(p->key >> 32));
	else if (p->key)
		snprintf(name.text, sizeof(name.text), "%" PRIu32, (uint32_t)p->key);
	return name;
}

static struct bb_case *add_case(struct bb_report *r, const char *scenario, const char *variant,
				const struct bb_inside_path *p, double seconds, double clock_ns)
{
	struct bb_case *c = BB_ADD(bb_case_record, r, cases);
	double mean = bb_inside_path__mean(p, clock_ns);

	c->name = bb_asprintf("%s/%s/" BB_DRIVE_INSIDE, scenario, variant);
	c->scenario = bb_strdup(scenario);
	c->variant = bb_strdup(variant);
	c->drive = bb_strdup(BB_DRIVE_INSIDE);
	c->is_live = true;
	struct bb_series *s = bb_record__series(c, 0, -1);
	s->elapsed_s = seconds;
	s->run_cnt = p->runs;
	s->multi = p->runs - p->timed;
	s->run_time_ns = isnan(mean) ? 0 : (uint64_t)(mean * (double)p->runs);
	bb_inside_path__samples(p, clock_ns, &s->hist);
	return c;
}

/* Returns the program's name, with a number if an earlier program that ran has this name. */
static char *name_variant(const struct bb_inside *in, const struct bb_inside_figures *figures,
			  size_t i)
{
	const char *name = *in->programs[i].name ? in->programs[i].name : "no-name";
	size_t n = 1;

	for (size_t k = 0; k < i; k++)
		n += figures[k].all.runs && !strcmp(in->programs[k].name, in->programs[i].name);
	return n > 1 ? bb_asprintf("%s-%zu", name, n) : bb_strdup(name);
}

void bb_inside__report(const struct bb_inside *in, const struct bb_inside_figures *figures,
		       uint64_t ended_ns, const char *scenario, size_t n_paths,
		       struct bb_report *report)
{
	for (size_t i = 0; i < in->n_programs; i++) {
		double seconds = (double)(ended_ns - in->programs[i].began_ns) * 1e-9;
		double clock_ns = in->price.clock_ns;
		const struct bb_inside_figures *f = &figures[i];

		if (!in->programs[i].id || !f->all.runs)
			continue;
		char *variant = name_variant(in, figures, i);
		add_case(report, scenario, variant, &f->all, seconds, clock_ns);
		for (size_t k = 0; f->n_paths > 1 && k < f->n_paths && k < n_paths; k++) {
			const struct bb_inside_path *p = &f->paths[k];
			char *name = bb_asprintf("%s.%s", variant, bb_inside_path_name(p).text);
			struct bb_case *c = add_case(report, scenario, name, p, seconds, clock_ns);

			c->path_share = (double)p->runs / (double)f->all.runs;
			free(name);
		}
		free(variant);
	}
}

#define DEPTH 64u /* most frames from the root of the tree to a path */

struct tree {
	const struct bb_inside_program *p;
	const struct btf *btf;
	struct bb_stacks *stacks;
};

/* The paths on one side of a branch: paths[n], and the frames that lead to them. */
struct side {
	const struct bb_inside_path **paths;
	size_t n;
	uint32_t frames[DEPTH], depth;
};

static void enter(const struct tree *t, struct side *side, const char *name,
		  enum bb_frame_kind kind)
{
	if (side->depth < DEPTH)
		side->frames[side->depth++] = bb_stacks__frame(t->stacks, name, kind);
}

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

/* Returns true if all paths execute the block or, with `executes` false, if none does. */
static bool all_alike(const struct tree *t, const struct side *side, uint32_t block, bool executes)
{
	return !BB_ANY(side->paths, side->n,
		       bb_inside_path__marks(&t->p->clone, *it, block) != executes);
}

/* Adds the paths of a side to the stacks, as a tree. The paths do not differ before block `b`. */
static void add_side(const struct tree *t, const struct side *side, uint32_t b)
{
	struct side sides[2] = {*side, *side};
	uint32_t n_blocks = t->p->cfg.n_blocks;

	/* finds the next block that only some paths execute */
	while (b < n_blocks && (all_alike(t, side, b, true) || all_alike(t, side, b, false)))
		b++;
	/* paths that execute the same blocks differ in loops or in where they end */
	for (size_t i = 0; b == n_blocks && i < side->n; i++) {
		const struct bb_inside_path *path = side->paths[i];
		struct side leaf = *side;
		char name[64];

		snprintf(name, sizeof(name), "about %" PRIu64 " turns of its loops", path->turns);
		if (side->n > 1)
			enter(t, &leaf, name, BB_FRAME_NOTE);
		bb_stacks__add(t->stacks, leaf.frames, leaf.depth, (double)path->runs);
	}
	if (b == n_blocks)
		return;
	for (int i = 0; i < 2; i++) {
		sides[i].n = 0;
		sides[i].paths = bb_calloc(side->n, sizeof(*side->paths));
	}
	for (size_t i = 0; i < side->n; i++) {
		struct side *of = &sides[!bb_inside_path__marks(&t->p->clone, side->paths[i], b)];

		of->paths[of->n++] = side->paths[i];
	}
	for (int i = 0; i < 2; i++) {
		uint32_t own = b;

		/* finds the next block that all paths of this side and none of the other execute */
		while (own < n_blocks && !(all_alike(t, &sides[i], own, true) &&
					   all_alike(t, &sides[!i], own, false)))
			own++;
		enter_line(t, &sides[i], own < n_blocks ? "" : "skips ", own < n_blocks ? own : b);
		add_side(t, &sides[i], b + 1);
	}
	for (int i = 0; i < 2; i++)
		free(sides[i].paths);
}

void bb_inside__tree(const struct bb_inside *in, const struct bb_inside_figures *figures,
		     struct bb_stacks *stacks)
{
	for (size_t i = 0; i < in->n_programs; i++) {
		const struct bb_inside_program *p = &in->programs[i];
		const struct bb_inside_figures *f = &figures[i];
		struct btf *btf = p->btf_id ? btf__load_from_kernel_by_id(p->btf_id) : NULL;
		const struct tree t = {p, btf, stacks};
		struct side root = {.paths = bb_calloc(f->n_paths, sizeof(*root.paths))};
		char *variant = name_variant(in, figures, i);

		if (p->id)
			enter(&t, &root, variant, BB_FRAME_COMM);
		for (size_t k = 0; p->id && k < f->n_paths; k++) {
			struct side rest = root;

			if (f->paths[k].key) {
				root.paths[root.n++] = &f->paths[k];
				continue;
			}
			enter(&t, &rest, "[other paths]", BB_FRAME_NOTE);
			bb_stacks__add(stacks, rest.frames, rest.depth, (double)f->paths[k].runs);
		}
		if (root.n)
			add_side(&t, &root, 0);
		free(root.paths);
		free(variant);
		btf__free(btf);
	}
	bb_stacks__sort(stacks);
}
