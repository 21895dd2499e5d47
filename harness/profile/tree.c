/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int add_node(struct bb_tree *t, const struct bb_tree_node *node)
{
	if (bb_grow((void **)&t->nodes, t->n, &t->size, sizeof(*t->nodes)))
		return -ENOMEM;
	t->nodes[t->n++] = *node;
	return 0;
}

int bb_tree__init(struct bb_tree *t)
{
	struct bb_tree_node root = {.parent = BB_NO_ID, .first_child = BB_NO_ID, .next_sibling = BB_NO_ID};

	memset(t, 0, sizeof(*t));
	return bb_names__add(&t->names, "", 0, &root.name) ? -ENOMEM : add_node(t, &root);
}

int bb_tree__next_child(struct bb_tree *t, uint32_t parent, uint32_t name, enum bb_frame_kind kind, uint32_t detail,
			uint32_t *ret_child)
{
	uint32_t latest = t->nodes[parent].first_child;
	struct bb_tree_node node = {
		.parent = parent, .first_child = BB_NO_ID, .next_sibling = latest, .name = name, .kind = (uint8_t)kind,
		.detail = detail,
	};

	if (latest == BB_NO_ID || t->nodes[latest].name != name || t->nodes[latest].kind != kind) {
		latest = (uint32_t)t->n;
		if (add_node(t, &node))
			return -ENOMEM;
		t->nodes[parent].first_child = latest;
	}
	*ret_child = latest;
	return 0;
}

void bb_tree__sum(struct bb_tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].total = t->nodes[i].self;
	for (size_t i = t->n; i-- > 1;)
		t->nodes[t->nodes[i].parent].total += t->nodes[i].total;
}

const char *const bb_frame_suffixes[BB_N_FRAME_KINDS] = {
	[BB_FRAME_INLINED] = "_[i]", [BB_FRAME_JIT] = "_[j]", [BB_FRAME_KERNEL] = "_[k]",
};

static void write_name(const struct bb_tree *t, uint32_t node, FILE *out)
{
	const char *suffix = bb_frame_suffixes[t->nodes[node].kind];

	for (const char *c = bb_tree__name(t, node); *c; c++)
		putc(*c == ';' ? ':' : (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c, out);
	fputs(suffix ? suffix : "", out);
}

int bb_tree__write_folded(const struct bb_tree *t, FILE *out)
{
	uint32_t *path = malloc(t->n * sizeof(*path));

	if (!path)
		return -ENOMEM;
	for (uint32_t i = 1; i < t->n; i++) {
		size_t depth = 0;

		if (!t->nodes[i].self)
			continue;
		for (uint32_t at = i; at; at = t->nodes[at].parent)
			path[depth++] = at;
		while (depth--) {
			write_name(t, path[depth], out);
			putc(depth ? ';' : ' ', out);
		}
		fprintf(out, "%" PRIu64 "\n", t->nodes[i].self);
	}
	free(path);
	return 0;
}

void bb_tree__done(struct bb_tree *t)
{
	bb_names__done(&t->names);
	free(t->nodes);
	memset(t, 0, sizeof(*t));
}
