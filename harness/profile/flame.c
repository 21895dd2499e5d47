/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stacks.h"

#include "base/asset.h"
#include "base/text.h"

BB_ASSET(flame_css, "harness/profile/flame.css");
BB_ASSET(flame_js, "harness/profile/flame.js");

#define WIDTH 1200.0 /* all sizes in px */
#define MARGIN 10.0
#define ROW 17u  /* height of a frame */
#define HEAD 36u /* height of the title */
#define FOOT 56u /* height of the legend, the buttons, and the line about a selected frame */
#define LETTER_WIDTH 7.0   /* of the monospaced font at 11.5 px, rounded up */
#define MIN_WIDTH 0.1      /* narrower frames are left out */
#define MAX_BYTES 1950000u /* default limit of the bytes of all frames */
#define TINTS 3

/* The palette of Okabe and Ito (2008), which colour-blind people can tell apart. Each kind has
 * several tints, so that neighbouring frames differ. */
static const struct kind_style {
	char letter;
	const char *legend; /* NULL if the legend of a profile leaves the kind out */
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

/* A frame as drawn: left edge and width in units of weight, and distance from the root in rows. */
struct box {
	uint64_t x, total;
	uint32_t depth;
	uint32_t frame; /* index in bb_stacks.frames, or BB_NO_ID for the root */
};

struct flame {
	const struct bb_stacks *stacks;
	const struct bb_flame_opts *opts;
	double px_per_unit;
	struct box *boxes; /* sorted by by_width() */
	size_t n;
	size_t n_shown; /* boxes[0 .. n_shown) are drawn */
	uint32_t rows;  /* greatest depth of a drawn box */
	uint32_t head;
	FILE *out;
};

static double width_of(const struct flame *f, const struct box *box)
{
	return (double)box->total * f->px_per_unit;
}

static void add_box(struct flame *f, uint64_t x, uint64_t end, uint32_t depth, uint32_t frame)
{
	const struct box box = {.x = x, .total = end - x, .depth = depth, .frame = frame};

	if (width_of(f, &box) >= MIN_WIDTH)
		BB_PUSH(f->boxes, f->n, box);
}

/* Lays the sorted stacks side by side. Neighbouring stacks share the boxes of equal outer
 * frames. */
static void add_boxes(struct flame *f)
{
	const struct bb_stacks *s = f->stacks;
	uint32_t deepest = 0;
	uint64_t *begun, x = 0; /* begun[i] is the left edge of the unfinished box at depth i */

	add_box(f, 0, s->total, 0, BB_NO_ID);
	for (size_t i = 0; i < s->n; i++)
		deepest = s->v[i].n > deepest ? s->v[i].n : deepest;
	begun = bb_calloc(deepest, sizeof(*begun));
	for (size_t i = 0; i < s->n; i++) {
		const struct bb_stack *stack = &s->v[i];
		uint32_t stay = i + 1 < s->n ? stack[1].shared : 0;

		for (uint32_t depth = stack->shared; depth < stack->n; depth++)
			begun[depth] = x;
		x += (uint64_t)stack->weight;
		for (uint32_t depth = stack->n; depth-- > stay;)
			add_box(f, begun[depth], x, depth + 1, s->parts[stack->first + depth]);
	}
	free(begun);
}

static int by_width(const void *a, const void *b)
{
	const struct box *p = a, *q = b;

	return BB_ORDER(q->total, p->total) ?: BB_ORDER(p->depth, q->depth) ?: BB_ORDER(p->x, q->x);
}

static uint32_t y_of(const struct flame *f, const struct box *box)
{
	return (f->rows - box->depth) * ROW;
}

static const char *name_of(const struct flame *f, const struct box *box)
{
	return box->depth ? bb_stacks__name(f->stacks, box->frame) : "all";
}

static void write_rect(const struct flame *f, const struct box *box, FILE *out)
{
	const struct bb_frame *frame = box->depth ? &f->stacks->frames[box->frame] : NULL;

	/* a function has one colour in the whole graph */
	fprintf(out,
		"<rect class='%c%u' x='%" PRIu64 "' y='%u' width='%" PRIu64 "' height='16'><title>",
		styles[frame ? frame->kind : BB_FRAME_COMM].letter, frame ? frame->name % TINTS : 0,
		box->x, y_of(f, box), box->total);
	bb_xml_text(out, name_of(f, box));
	fprintf(out, "\n%" PRIu64 " %s, %.2f %%</title></rect>\n", box->total, f->opts->unit,
		100 * (double)box->total / (double)f->stacks->total);
}

static void write_label(const struct flame *f, const struct box *box, FILE *out)
{
	size_t fits = (size_t)((width_of(f, box) - 4) / LETTER_WIDTH);
	const char *name = name_of(f, box);

	if (width_of(f, box) < 3 * LETTER_WIDTH + 4)
		return;
	fprintf(out, "<text x='%.1f' y='%u'>", MARGIN + (double)box->x * f->px_per_unit + 3,
		f->head + y_of(f, box) + 12);
	if (bb_xml_length(name) <= fits) {
		bb_xml_text(out, name);
	} else {
		bb_xml_text_cut(out, name, fits - 2);
		fputs("..", out);
	}
	fputs("</text>\n", out);
}

/* Chooses the boxes that fit into opts->max_bytes, the widest first and, at one width, those nearer
 * to the root. So each drawn box stands on a drawn box. */
static void choose_shown(struct flame *f)
{
	char *text = NULL;
	size_t len;
	FILE *measured = bb_open_memstream(&text, &len);
	long max_bytes = (long)(f->opts->max_bytes ? f->opts->max_bytes : MAX_BYTES);

	qsort(f->boxes, f->n, sizeof(*f->boxes), by_width);
	for (size_t i = 0; i < f->n; i++)
		f->rows = f->boxes[i].depth > f->rows ? f->boxes[i].depth : f->rows;
	for (; f->n_shown < f->n && ftell(measured) < max_bytes; f->n_shown++) {
		write_rect(f, &f->boxes[f->n_shown], measured);
		write_label(f, &f->boxes[f->n_shown], measured);
	}
	if (ftell(measured) >= max_bytes && f->n_shown > 1)
		f->n_shown--;
	f->rows = 0;
	for (size_t i = 0; i < f->n_shown; i++)
		f->rows = f->boxes[i].depth > f->rows ? f->boxes[i].depth : f->rows;
	bb_close_memstream(measured);
	free(text);
}

static void write_style(FILE *out)
{
	fprintf(out, "<style>\n%s", flame_css);
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++)
		for (int tint = 0; tint < TINTS; tint++)
			fprintf(out, ".flame .%c%d{fill:%s}", styles[kind].letter, tint,
				styles[kind].fills[tint]);
	fputs("\n</style>\n", out);
}

static uint32_t frames_height(const struct flame *f)
{
	return (f->rows + 1) * ROW;
}

static void write_frames(const struct flame *f)
{
	/* in units of weight, so that zooming needs only another viewBox */
	fprintf(f->out,
		"<svg class='frames' x='%.0f' y='%u' width='%.0f' height='%u' viewBox='0 0 %" PRIu64
		" %u' preserveAspectRatio='none'>\n",
		MARGIN, f->head, WIDTH - 2 * MARGIN, frames_height(f), f->stacks->total,
		frames_height(f));
	for (size_t i = 0; i < f->n_shown; i++)
		write_rect(f, &f->boxes[i], f->out);
	fputs("</svg>\n<g class='labels'>\n", f->out);
	for (size_t i = 0; i < f->n_shown; i++)
		write_label(f, &f->boxes[i], f->out);
	fputs("</g>\n", f->out);
}

static void write_omission(const struct flame *f, const char *unit)
{
	double width = MIN_WIDTH;
	const char *also = "";

	if (f->n_shown < f->n) {
		width = width_of(f, &f->boxes[f->n_shown]);
		also = f->boxes[f->n_shown - 1].total == f->boxes[f->n_shown].total ? ", and some "
										      "as wide,"
										    : "";
	}
	fprintf(f->out, "frames narrower than %.2g %s%s are left out", width, unit, also);
}

static const char *legend_of(const struct flame *f, int kind)
{
	return f->opts->legend ? f->opts->legend[kind] : styles[kind].legend;
}

static void write_svg(const struct flame *f)
{
	uint32_t y = HEAD + frames_height(f), height = y + FOOT;
	double x = MARGIN;

	fprintf(f->out,
		"<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' "
		"class='flame' viewBox='0 0 %.0f %u' width='%.0f' height='%u' font-size='11.5'>\n",
		WIDTH, height, WIDTH, height);
	write_style(f->out);
	fprintf(f->out,
		"<rect width='%.0f' height='%u' fill='#fff'/>\n<text class='title' x='%.0f' "
		"y='22'>",
		WIDTH, height, MARGIN);
	bb_xml_text(f->out, f->opts->title);
	fputs("</text>\n", f->out);
	write_frames(f);
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		const char *legend = legend_of(f, kind);

		if (!legend)
			continue;
		fprintf(f->out,
			"<rect class='%c0' x='%.0f' y='%u' width='12' height='12'/><text x='%.0f' "
			"y='%u'>%s</text>\n",
			styles[kind].letter, x, y + 6, x + 17, y + 16, legend);
		x += 34 + LETTER_WIDTH * (double)strlen(legend);
	}
	fprintf(f->out, "<text x='%.0f' y='%u'>", x + 10, y + 16);
	write_omission(f, "px");
	fprintf(f->out,
		"</text>\n<text class='found' x='820' y='%u'></text>\n"
		"<text class='reset b hide' x='980' y='%u' tabindex='0'>Reset zoom</text>\n"
		"<text class='search b hide' x='1090' y='%u' tabindex='0'>Search</text>\n"
		"<text class='about' x='%.0f' y='%u'></text>\n"
		"<script><![CDATA[\n%s]]></script>\n</svg>\n",
		y + 16, y + 16, y + 16, MARGIN, y + 40, flame_js);
}

static void write_html(const struct flame *f)
{
	write_style(f->out);
	fputs("<figure class='flame'>\n<p><button class='search hide'>Search</button> <button "
	      "class='reset hide'>Reset zoom</button> <output class='found'></output></p>\n",
	      f->out);
	fprintf(f->out,
		"<div class='box' tabindex='0'><svg viewBox='0 0 %.0f %u' role='img' "
		"aria-label='flame graph'>\n",
		WIDTH, frames_height(f));
	write_frames(f);
	fputs("</svg></div>\n<p class='about'></p>\n<figcaption>", f->out);
	bb_xml_text(f->out, f->opts->title);
	fputs("<br>", f->out);
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++)
		if (legend_of(f, kind))
			fprintf(f->out,
				"<svg class='key' viewBox='0 0 9 9'><rect class='%c0' width='9' "
				"height='9'/></svg> %s\n",
				styles[kind].letter, legend_of(f, kind));
	fputs(" · ", f->out);
	write_omission(f, "px of 1200");
	fprintf(f->out, "</figcaption>\n<script>\n%s</script>\n</figure>\n", flame_js);
}

static void write_graph(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			uint32_t head, void (*write)(const struct flame *f), FILE *out)
{
	struct flame f = {
		.stacks = stacks,
		.opts = opts,
		.px_per_unit = (WIDTH - 2 * MARGIN) / (double)stacks->total,
		.head = head,
		.out = out,
	};

	add_boxes(&f);
	choose_shown(&f);
	write(&f);
	free(f.boxes);
}

void bb_flame__write(const struct bb_stacks *stacks, const struct bb_flame_opts *opts, FILE *out)
{
	if (stacks->total) {
		write_graph(stacks, opts, HEAD, write_svg, out);
		return;
	}
	fputs("<?xml version='1.0' encoding='UTF-8'?>\n<svg xmlns='http://www.w3.org/2000/svg' "
	      "viewBox='0 0 1200 60' width='100%'>\n<text x='10' y='22'>",
	      out);
	bb_xml_text(out, opts->title);
	fputs("</text>\n<text x='10' y='46'>Nothing was sampled: the workload did not "
	      "run.</text>\n</svg>\n",
	      out);
}

void bb_flame__write_html(const struct bb_stacks *stacks, const struct bb_flame_opts *opts,
			  FILE *out)
{
	if (stacks->total) {
		write_graph(stacks, opts, 0, write_html, out);
		return;
	}
	fputs("<p>", out);
	bb_xml_text(out, opts->title);
	fputs(": nothing was sampled.</p>\n", out);
}
