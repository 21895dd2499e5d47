/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/flame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "profile/flame_script.h"

#define WIDTH 1200.0
#define MARGIN 10.0
#define ROW 17u
#define HEAD 36u		/* above the frames: the title */
#define FOOT 56u		/* below, where the root is: legend, buttons, and what the pointer is on */
#define CHAR_WIDTH 7.0		/* of the monospaced font, at its size of 11.5 px, and a little more */
#define MIN_WIDTH 0.1
#define MAX_BYTES 1800000u	/* for frames */
#define FRAME_BYTES 96u		/* of a frame but for its name, at the most but for labels */
#define TINTS 3

/* Okabe and Ito's palette (2008), which the colour-blind can tell apart; tints set neighbours off. */
static const struct kind_style {
	char letter;
	const char *legend;	/* NULL: in no legend */
	const char *fills[TINTS];
} styles[BB_N_FRAME_KINDS] = {
	[BB_FRAME_COMM] = {'c', NULL, {"#bbbbbb", "#c4c4c4", "#b2b2b2"}},
	[BB_FRAME_USER] = {'u', "user", {"#e69f00", "#eeb02a", "#f2bd52"}},
	[BB_FRAME_INLINED] = {'i', "inlined", {"#f0e442", "#f3ea6b", "#f6ef8f"}},
	[BB_FRAME_JIT] = {'j', "JIT", {"#3fb594", "#5cc0a4", "#78cbb4"}},
	[BB_FRAME_KERNEL] = {'k', "kernel", {"#56b4e9", "#74c2ed", "#8fcef1"}},
	[BB_FRAME_OFF_CPU] = {'o', "off-CPU", {"#6f86e0", "#8497e6", "#98a9eb"}},
	[BB_FRAME_NOTE] = {'n', NULL, {"#cc79a7", "#d38cb4", "#da9fc1"}},
};

/* Where a node is: in units of weight from the left, and in rows from the root. */
struct placed {
	uint64_t x;
	uint32_t depth;
};

struct flame {
	const struct bb_tree *tree;
	const struct bb_flame_opts *opts;
	struct placed *placed;	/* for each node */
	double px_per_unit, min_width;
	uint32_t rows, head;	/* head: px above the frames */
	FILE *out;
};

static int by_parent_and_name(const void *a, const void *b, void *arg)
{
	const struct bb_tree *t = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct bb_tree_node *p = &t->nodes[x], *q = &t->nodes[y];
	int order;

	if (p->parent != q->parent)
		return p->parent < q->parent ? -1 : 1;
	order = strcmp(bb_tree__name(t, x), bb_tree__name(t, y));
	return order ? order : (p->kind > q->kind) - (p->kind < q->kind);
}

/* Children side by side on their parent, in the order of their names. Parents come first: their numbers are lower. */
static int place(struct flame *f)
{
	const struct bb_tree *t = f->tree;
	uint32_t *order = malloc(t->n * sizeof(*order));
	uint64_t x = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		order[i] = i;
	qsort_r(order + 1, t->n - 1, sizeof(*order), by_parent_and_name, (void *)(uintptr_t)t);
	for (size_t i = 1; i < t->n; i++) {
		uint32_t node = order[i], parent = t->nodes[node].parent;

		if (i == 1 || parent != t->nodes[order[i - 1]].parent)
			x = f->placed[parent].x;
		f->placed[node] = (struct placed){.x = x, .depth = f->placed[parent].depth + 1};
		x += t->nodes[node].total;
	}
	free(order);
	return 0;
}

static double width_of(const struct flame *f, uint32_t node)
{
	return (double)f->tree->nodes[node].total * f->px_per_unit;
}

static bool is_shown(const struct flame *f, uint32_t node)
{
	return width_of(f, node) >= f->min_width;
}

static int by_total(const void *a, const void *b)
{
	const struct bb_tree_node *const *x = a, *const *y = b;

	return ((*x)->total < (*y)->total) - ((*x)->total > (*y)->total);
}

/* The narrowest frame to be drawn: a child is not wider than its parent, so what is left is still a tree. */
static int choose_min_width(struct flame *f)
{
	const struct bb_tree *t = f->tree;
	const struct bb_tree_node **nodes = malloc(t->n * sizeof(*nodes));
	size_t n = 0, bytes = 0, max_bytes = f->opts->max_bytes ? f->opts->max_bytes : MAX_BYTES;

	if (!nodes)
		return -ENOMEM;
	f->min_width = MIN_WIDTH;
	for (uint32_t i = 0; i < t->n; i++)
		if (is_shown(f, i))
			nodes[n++] = &t->nodes[i];
	qsort(nodes, n, sizeof(*nodes), by_total);
	for (size_t i = 0; i < n && f->min_width == MIN_WIDTH; i++) {
		bytes += FRAME_BYTES + 2 * strlen(bb_names__text(&t->names, nodes[i]->name));
		if (bytes > max_bytes)
			f->min_width = ((double)nodes[i]->total + 0.5) * f->px_per_unit;
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (is_shown(f, i) && f->placed[i].depth > f->rows)
			f->rows = f->placed[i].depth;
	free(nodes);
	return 0;
}

static uint32_t y_of(const struct flame *f, uint32_t node)
{
	return (f->rows - f->placed[node].depth) * ROW;
}

/* The same function has the same tint everywhere. */
static unsigned int tint_of(const struct flame *f, uint32_t node)
{
	return f->tree->nodes[node].name % TINTS;
}

static const char *frame_name(const struct flame *f, uint32_t node)
{
	return node ? bb_tree__name(f->tree, node) : "all";
}

static void write_rect(const struct flame *f, uint32_t node)
{
	const struct bb_tree_node *n = &f->tree->nodes[node];
	uint64_t all = f->tree->nodes[0].total;

	fprintf(f->out, "<rect class='%c%u' x='%" PRIu64 "' y='%u' width='%" PRIu64 "' height='16'><title>",
		styles[n->kind].letter, tint_of(f, node), f->placed[node].x, y_of(f, node), n->total);
	bb_xml_text(f->out, frame_name(f, node));
	fprintf(f->out, "\n%" PRIu64 " %s, %.2f %%</title></rect>\n", n->total, f->opts->unit,
		100 * (double)n->total / (double)all);
}

/* As much of the name as fits into the frame. */
static void write_label(const struct flame *f, uint32_t node)
{
	size_t fits = (size_t)((width_of(f, node) - 4) / CHAR_WIDTH);
	const char *name = frame_name(f, node);

	if (width_of(f, node) < 3 * CHAR_WIDTH + 4)
		return;
	fprintf(f->out, "<text x='%.1f' y='%u'>", MARGIN + (double)f->placed[node].x * f->px_per_unit + 3,
		f->head + y_of(f, node) + 12);
	if (bb_xml_length(name) <= fits) {
		bb_xml_text(f->out, name);
	} else {
		bb_xml_text_cut(f->out, name, fits - 2);
		fputs("..", f->out);
	}
	fputs("</text>\n", f->out);
}

static void write_style(FILE *out)
{
	fputs("<style>.flame text{font:11.5px monospace;fill:#000}.frames rect{stroke:var(--paper,#fff);stroke-width:.6;"
	      "vector-effect:non-scaling-stroke;cursor:pointer}.frames rect:hover{stroke:var(--ink,#000);stroke-width:1.4}"
	      ".labels{pointer-events:none}.flame .title{font:bold 15px sans-serif}.flame .b{cursor:pointer;text-decoration:underline}"
	      ".flame .hide{display:none}.frames .m{fill:#d55e00}.frames .p{opacity:.5}\n"
	      ".flame .box{max-height:min(40rem,75vh);overflow-y:auto}.flame .box>svg{display:block;width:100%;height:auto}"
	      "@media print{.flame .box{max-height:none}}.flame p{margin:.3rem 0;font-size:.85rem;color:var(--faint)}.flame p.about{min-height:1.5em;overflow-wrap:anywhere}"
	      ".flame .key{display:inline;width:.8em;height:.8em;margin-left:.6em}\n", out);
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++)
		for (int tint = 0; tint < TINTS; tint++)
			fprintf(out, ".flame .%c%d{fill:%s}", styles[kind].letter, tint, styles[kind].fills[tint]);
	fputs("\n</style>\n", out);
}

static uint32_t frames_height(const struct flame *f)
{
	return (f->rows + 1) * ROW;
}

static void write_frames(const struct flame *f)
{
	/* In units of weight: zooming is another viewBox, and exact. */
	fprintf(f->out, "<svg class='frames' x='%.0f' y='%u' width='%.0f' height='%u' viewBox='0 0 %" PRIu64 " %u' "
		"preserveAspectRatio='none'>\n", MARGIN, f->head, WIDTH - 2 * MARGIN, frames_height(f),
		f->tree->nodes[0].total, frames_height(f));
	for (uint32_t i = 0; i < f->tree->n; i++)
		if (is_shown(f, i))
			write_rect(f, i);
	fputs("</svg>\n<g class='labels'>\n", f->out);
	for (uint32_t i = 0; i < f->tree->n; i++)
		if (is_shown(f, i))
			write_label(f, i);
	fputs("</g>\n", f->out);
}

/* --- one SVG file -------------------------------------------------------------------------------------------- */

static void write_svg_head(const struct flame *f, uint32_t height)
{
	fprintf(f->out, "<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' class='flame' "
		"viewBox='0 0 %.0f %u' width='%.0f' height='%u' font-size='11.5'>\n", WIDTH, height, WIDTH, height);
	write_style(f->out);
	fprintf(f->out, "<rect width='%.0f' height='%u' fill='#fff'/>\n<text class='title' x='%.0f' y='22'>", WIDTH, height,
		MARGIN);
	bb_xml_text(f->out, f->opts->title);
	fputs("</text>\n", f->out);
}

static void write_svg_foot(const struct flame *f, uint32_t y)
{
	double x = MARGIN;

	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		if (!styles[kind].legend)
			continue;
		fprintf(f->out, "<rect class='%c0' x='%.0f' y='%u' width='12' height='12'/><text x='%.0f' y='%u'>%s</text>\n",
			styles[kind].letter, x, y + 6, x + 17, y + 16, styles[kind].legend);
		x += 34 + CHAR_WIDTH * (double)strlen(styles[kind].legend);
	}
	fprintf(f->out, "<text x='%.0f' y='%u'>frames narrower than %.2g px are left out</text>\n", x + 10, y + 16,
		f->min_width);
	fprintf(f->out, "<text class='found' x='820' y='%u'></text>\n"
		"<text class='reset b hide' x='980' y='%u' tabindex='0'>Reset zoom</text>\n"
		"<text class='search b hide' x='1090' y='%u' tabindex='0'>Search</text>\n"
		"<text class='about' x='%.0f' y='%u'></text>\n", y + 16, y + 16, y + 16, MARGIN, y + 40);
}

static void write_svg(const struct flame *f)
{
	uint32_t height = HEAD + frames_height(f) + FOOT;

	write_svg_head(f, height);
	write_frames(f);
	write_svg_foot(f, height - FOOT);
	fprintf(f->out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", bb_flame_script);
}

static void write_empty_svg(const struct bb_flame_opts *opts, FILE *out)
{
	fputs("<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 1200 60' "
	      "width='100%'>\n<text x='10' y='22'>", out);
	bb_xml_text(out, opts->title);
	fputs("</text>\n<text x='10' y='46'>Nothing was sampled: the target did not run.</text>\n</svg>\n", out);
}

/* --- a part of a page ---------------------------------------------------------------------------------------- */

static void write_html(const struct flame *f)
{
	write_style(f->out);
	fputs("<figure class='flame'>\n<p><button class='search hide'>Search</button> <button class='reset hide'>Reset zoom</button> "
	      "<output class='found'></output></p>\n", f->out);
	fprintf(f->out, "<div class='box' tabindex='0'><svg viewBox='0 0 %.0f %u' role='img' aria-label='flame graph'>\n", WIDTH,
		frames_height(f));
	write_frames(f);
	fputs("</svg></div>\n<p class='about'></p>\n<figcaption>", f->out);
	bb_xml_text(f->out, f->opts->title);
	fputs("<br>", f->out);
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++)
		if (styles[kind].legend)
			fprintf(f->out, "<svg class='key' viewBox='0 0 9 9'><rect class='%c0' width='9' height='9'/></svg> %s\n",
				styles[kind].letter, styles[kind].legend);
	fprintf(f->out, " · frames narrower than %.2g of 1200 px are left out</figcaption>\n<script>\n%s</script>\n</figure>\n",
		f->min_width, bb_flame_script);
}

static void write_empty_html(const struct bb_flame_opts *opts, FILE *out)
{
	fputs("<p>", out);
	bb_xml_text(out, opts->title);
	fputs(": nothing was sampled.</p>\n", out);
}

/* Everything placed. 0 or -ENOMEM. */
static int lay_out(const struct bb_tree *tree, const struct bb_flame_opts *opts, uint32_t head, FILE *out,
		   struct flame *ret_flame)
{
	struct flame f = {.tree = tree, .opts = opts, .head = head, .out = out};
	int rc;

	f.px_per_unit = (WIDTH - 2 * MARGIN) / (double)tree->nodes[0].total;
	f.placed = calloc(tree->n, sizeof(*f.placed));
	rc = f.placed ? place(&f) : -ENOMEM;
	if (!rc)
		rc = choose_min_width(&f);
	if (rc)
		free(f.placed);
	else
		*ret_flame = f;
	return rc;
}

int bb_flame__write(const struct bb_tree *tree, const struct bb_flame_opts *opts, FILE *out)
{
	struct flame f;
	int rc;

	if (!tree->nodes[0].total) {
		write_empty_svg(opts, out);
		return 0;
	}
	rc = lay_out(tree, opts, HEAD, out, &f);
	if (rc)
		return rc;
	write_svg(&f);
	free(f.placed);
	return 0;
}

int bb_flame__write_html(const struct bb_tree *tree, const struct bb_flame_opts *opts, FILE *out)
{
	struct flame f;
	int rc;

	if (!tree->nodes[0].total) {
		write_empty_html(opts, out);
		return 0;
	}
	rc = lay_out(tree, opts, 0, out, &f);
	if (rc)
		return rc;
	write_html(&f);
	free(f.placed);
	return 0;
}
