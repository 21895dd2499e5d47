/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS 30u
#define MAX_STACKS 10u

/* A function, wherever it is in the tree. */
struct function {
	uint32_t node;		/* one of its nodes: its name and kind */
	uint64_t self, total;
};

struct functions {
	struct function *v;
	size_t n, size;
	struct bb_idmap by_name;	/* (name, kind) */
};

static int function_of(struct functions *f, const struct bb_tree *t, uint32_t node, struct function **ret)
{
	const struct bb_tree_node *n = &t->nodes[node];
	uint32_t id = bb_idmap__get(&f->by_name, n->name, n->kind);

	if (id == BB_NO_ID) {
		id = (uint32_t)f->n;
		if (bb_grow((void **)&f->v, f->n, &f->size, sizeof(*f->v)) || bb_idmap__put(&f->by_name, n->name, n->kind, id))
			return -ENOMEM;
		f->v[f->n++] = (struct function){.node = node};
	}
	*ret = &f->v[id];
	return 0;
}

static bool is_function(const struct bb_tree_node *n)
{
	return n->kind != BB_FRAME_COMM && n->kind != BB_FRAME_OFF_CPU && n->kind != BB_FRAME_NOTE;
}

/* A function that calls itself, perhaps by way of others, counts once a stack. */
static bool is_within_itself(const struct bb_tree *t, uint32_t node)
{
	const struct bb_tree_node *n = &t->nodes[node];

	for (uint32_t at = n->parent; at; at = t->nodes[at].parent)
		if (t->nodes[at].name == n->name && t->nodes[at].kind == n->kind)
			return true;
	return false;
}

static int count_functions(const struct bb_tree *t, struct functions *f)
{
	for (uint32_t i = 1; i < t->n; i++) {
		const struct bb_tree_node *n = &t->nodes[i];
		uint32_t owner = n->kind == BB_FRAME_OFF_CPU ? n->parent : i;	/* it is that function which waits */
		struct function *function;

		if (!is_function(&t->nodes[owner]))
			continue;
		if (function_of(f, t, owner, &function))
			return -ENOMEM;
		function->self += n->self;
		if (owner == i && !is_within_itself(t, i))
			function->total += n->total;
	}
	return 0;
}

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->node > y->node) - (x->node < y->node);
}

static const char *const kind_words[BB_N_FRAME_KINDS] = {
	[BB_FRAME_INLINED] = " (inlined)", [BB_FRAME_JIT] = " (JIT)", [BB_FRAME_KERNEL] = " (kernel)",
};

static void write_frame(const struct bb_profile *p, uint32_t node, bool verbose, FILE *out)
{
	const struct bb_tree_node *n = &p->tree.nodes[node];
	const struct bb_frame *frame = verbose && n->detail != BB_NO_ID ? &p->frames.v[n->detail] : NULL;
	const char *word = kind_words[n->kind];

	for (const char *c = bb_tree__name(&p->tree, node); *c; c++)
		putc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);	/* it may be a terminal */
	fputs(word ? word : "", out);
	if (frame && frame->kind != BB_FRAME_INLINED)
		fprintf(out, " @ 0x%" PRIx64 "+0x%" PRIx64, frame->start, frame->distance);
	if (frame && frame->file != BB_NO_ID)
		fprintf(out, " %s:%u", bb_names__text(&p->tree.names, frame->file), frame->line);
	putc('\n', out);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static int write_functions(const struct bb_profile *p, FILE *out)
{
	struct functions f = {0};
	uint64_t all = p->tree.nodes[0].total;
	int rc = count_functions(&p->tree, &f);

	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), by_self);
	fprintf(out, "  self %%  total %%  function\n");
	for (size_t i = 0; i < f.n && i < MAX_FUNCTIONS && !rc; i++) {
		fprintf(out, "  %6.2f   %6.2f  ", percent(f.v[i].self, all), percent(f.v[i].total, all));
		write_frame(p, f.v[i].node, false, out);
	}
	if (f.n > MAX_FUNCTIONS)
		fprintf(out, "  and %zu functions more\n", f.n - MAX_FUNCTIONS);
	free(f.v);
	bb_idmap__done(&f.by_name);
	return rc;
}

/* Innermost first: the kernel's half, the user's, the process. */
static void write_stack(const struct bb_profile *p, uint32_t leaf, const struct bb_text_opts *opts, FILE *out)
{
	const struct bb_tree *t = &p->tree;
	bool has_kernel = false;

	for (uint32_t at = leaf; at; at = t->nodes[at].parent)
		has_kernel |= t->nodes[at].kind == BB_FRAME_KERNEL;
	fprintf(out, "\n  %.2f %%, %" PRIu64 " %s\n", percent(t->nodes[leaf].self, t->nodes[0].total), t->nodes[leaf].self,
		opts->unit);
	if (!has_kernel)
		fprintf(out, "    No Kernel Stack\n");
	for (uint32_t at = leaf; at; at = t->nodes[at].parent) {
		fprintf(out, "    ");
		write_frame(p, at, opts->verbose, out);
	}
}

static int by_weight(const void *a, const void *b, void *arg)
{
	const struct bb_tree_node *nodes = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].self != nodes[y].self)
		return nodes[x].self < nodes[y].self ? 1 : -1;
	return (x > y) - (x < y);
}

static int write_stacks(const struct bb_profile *p, const struct bb_text_opts *opts, FILE *out)
{
	const struct bb_tree *t = &p->tree;
	uint32_t *leaves = malloc(t->n * sizeof(*leaves));
	size_t n = 0;

	if (!leaves)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->n; i++)
		if (t->nodes[i].self)
			leaves[n++] = i;
	qsort_r(leaves, n, sizeof(*leaves), by_weight, t->nodes);
	fprintf(out, "\nThe hottest of %zu stacks, innermost frame first:\n", n);
	for (size_t i = 0; i < n && i < MAX_STACKS; i++)
		write_stack(p, leaves[i], opts, out);
	free(leaves);
	return 0;
}

int bb_profile__write_text(const struct bb_profile *p, const struct bb_text_opts *opts, FILE *out)
{
	int rc;

	fprintf(out, "%s\n\n", opts->title);
	if (!p->tree.nodes[0].total) {
		fprintf(out, "Nothing was sampled: the target did not run.\n");
		return 0;
	}
	rc = write_functions(p, out);
	return rc ? rc : write_stacks(p, opts, out);
}
