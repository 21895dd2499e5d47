/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FUNCTIONS 30u
#define MAX_STACKS 10u

/* A function, wherever it is in the stacks. */
struct function {
	uint32_t frame; /* one of its frames: its name and kind */
	size_t seen;    /* which stack it was last seen in, counted from 1 */
	uint64_t self, total;
};

struct functions {
	struct function *v;
	size_t n;
	uint32_t *of_frame; /* which function each frame is of */
};

static bool is_function(const struct bb_frame *f)
{
	return f->kind != BB_FRAME_COMM && f->kind != BB_FRAME_OFF_CPU && f->kind != BB_FRAME_NOTE;
}

static int find_functions(const struct bb_stacks *s, struct functions *f)
{
	struct bb_idmap by_name = {0}; /* (name, kind) */
	int rc = 0;

	f->v = malloc((s->n_frames + 1) * sizeof(*f->v));
	f->of_frame = malloc((s->n_frames + 1) * sizeof(*f->of_frame));
	if (!f->v || !f->of_frame)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n_frames && !rc; i++) {
		const struct bb_frame *frame = &s->frames[i];
		uint32_t id = bb_idmap__get(&by_name, frame->name, frame->kind);

		if (id == BB_NO_ID) {
			id = (uint32_t)f->n++;
			f->v[id] = (struct function){.frame = i};
			rc = bb_idmap__put(&by_name, frame->name, frame->kind, id);
		}
		f->of_frame[i] = id;
	}
	bb_idmap__done(&by_name);
	return rc;
}

/* A function that calls itself, perhaps by way of others, counts once a stack. */
static void count_stacks(const struct bb_stacks *s, struct functions *f)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct bb_stack *stack = &s->v[i];
		const uint32_t *frames = s->parts + stack->first;
		uint32_t leaf = stack->n - 1;

		for (uint32_t k = 0; k < stack->n; k++) {
			struct function *function = &f->v[f->of_frame[frames[k]]];

			if (function->seen != i + 1)
				function->total += (uint64_t)stack->weight;
			function->seen = i + 1;
		}
		if (leaf && s->frames[frames[leaf]].kind == BB_FRAME_OFF_CPU)
			leaf--; /* it is that function which waits */
		f->v[f->of_frame[frames[leaf]]].self += (uint64_t)stack->weight;
	}
}

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

static const char *const kind_words[BB_N_FRAME_KINDS] = {
	[BB_FRAME_INLINED] = " (inlined)",
	[BB_FRAME_JIT] = " (JIT)",
	[BB_FRAME_KERNEL] = " (kernel)",
};

static void write_frame(const struct bb_stacks *s, uint32_t id, bool verbose, FILE *out)
{
	const struct bb_frame *frame = &s->frames[id];
	const char *word = kind_words[frame->kind];

	for (const char *c = bb_stacks__name(s, id); *c; c++)
		putc((unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c,
		     out); /* it may be a terminal */
	fputs(word ? word : "", out);
	if (verbose && is_function(frame) && frame->kind != BB_FRAME_INLINED)
		fprintf(out, " @ 0x%" PRIx64 "+0x%" PRIx64, frame->start, frame->distance);
	if (verbose && frame->file != BB_NO_ID)
		fprintf(out, " %s:%u", bb_names__text(&s->names, frame->file), frame->line);
	putc('\n', out);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100 * (double)part / (double)whole : 0;
}

static int write_functions(const struct bb_stacks *s, FILE *out)
{
	struct functions f = {0};
	int rc = find_functions(s, &f);
	size_t n = 0;

	if (!rc)
		count_stacks(s, &f);
	for (size_t i = 0; i < f.n && !rc; i++)
		if (is_function(&s->frames[f.v[i].frame]))
			f.v[n++] = f.v[i];
	if (n)
		qsort(f.v, n, sizeof(*f.v), by_self);
	fprintf(out, "  self %%  total %%  function\n");
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		fprintf(out, "  %6.2f   %6.2f  ", percent(f.v[i].self, s->total),
			percent(f.v[i].total, s->total));
		write_frame(s, f.v[i].frame, false, out);
	}
	if (n > MAX_FUNCTIONS)
		fprintf(out, "  and %zu functions more\n", n - MAX_FUNCTIONS);
	free(f.v);
	free(f.of_frame);
	return rc;
}

/* Innermost first: the kernel's half, the user's, the process. */
static void write_stack(const struct bb_stacks *s, const struct bb_stack *stack,
			const struct bb_text_opts *opts, FILE *out)
{
	const uint32_t *frames = s->parts + stack->first;
	bool has_kernel = false;

	for (uint32_t k = 0; k < stack->n; k++)
		has_kernel |= s->frames[frames[k]].kind == BB_FRAME_KERNEL;
	fprintf(out, "\n  %.2f %%, %.0f %s\n", percent((uint64_t)stack->weight, s->total),
		stack->weight, opts->unit);
	if (!has_kernel)
		fprintf(out, "    No Kernel Stack\n");
	for (uint32_t k = stack->n; k-- > 0;) {
		fprintf(out, "    ");
		write_frame(s, frames[k], opts->verbose, out);
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct bb_stack *const *x = a, *const *y = b;

	if ((*x)->weight != (*y)->weight)
		return (*x)->weight < (*y)->weight ? 1 : -1;
	return (*x > *y) - (*x < *y);
}

static int write_stacks(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out)
{
	const struct bb_stack **stacks = malloc(s->n * sizeof(*stacks));

	if (!stacks)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++)
		stacks[i] = &s->v[i];
	qsort(stacks, s->n, sizeof(*stacks), by_weight);
	fprintf(out, "\nThe hottest of %zu stacks, innermost frame first:\n", s->n);
	for (size_t i = 0; i < s->n && i < MAX_STACKS; i++)
		write_stack(s, stacks[i], opts, out);
	free(stacks);
	return 0;
}

int bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out)
{
	int rc;

	fprintf(out, "%s\n\n", opts->title);
	if (!s->total) {
		fprintf(out, "Nothing was sampled: the target did not run.\n");
		return 0;
	}
	rc = write_functions(s, out);
	return rc ? rc : write_stacks(s, opts, out);
}
