/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"

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

int bb_stacks__add_frame(struct bb_stacks *s, const struct bb_frame *frame)
{
	if (bb_reserve(&s->frames, s->n_frames + 1, &s->frames_size, sizeof(*frame)))
		return -ENOMEM;
	s->frames[s->n_frames++] = *frame;
	return 0;
}

int bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight)
{
	if (bb_reserve(&s->parts, s->n_parts + n, &s->parts_size, sizeof(*s->parts)))
		return -ENOMEM;
	if (bb_reserve(&s->v, s->n + 1, &s->size, sizeof(*s->v)))
		return -ENOMEM;
	s->v[s->n++] = (struct bb_stack){.first = s->n_parts, .n = n, .weight = weight};
	memcpy(s->parts + s->n_parts, frames, n * sizeof(*frames));
	s->n_parts += n;
	return 0;
}

int bb_frame_order(const struct bb_names *names, const struct bb_frame *a, const struct bb_frame *b)
{
	int order = a->name == b->name ? 0
				       : strcmp(bb_names__text(names, a->name),
						bb_names__text(names, b->name));

	return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct bb_stacks *s = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = bb_frame_order(&s->names, &s->frames[x], &s->frames[y]);

	return order ? order : (x > y) - (x < y);
}

int bb_stacks__sort_frames(struct bb_stacks *s)
{
	uint32_t *order = malloc((s->n_frames + 1) * sizeof(*order));
	uint32_t *numbers = malloc((s->n_frames + 1) * sizeof(*numbers));
	struct bb_frame *frames = malloc((s->n_frames + 1) * sizeof(*frames));
	int rc = -ENOMEM;

	if (!order || !numbers || !frames)
		goto out;
	for (uint32_t i = 0; i < s->n_frames; i++)
		order[i] = i;
	qsort_r(order, s->n_frames, sizeof(*order), by_name, s);
	for (uint32_t i = 0; i < s->n_frames; i++) {
		frames[i] = s->frames[order[i]];
		numbers[order[i]] = i;
	}
	if (s->n_frames)
		memcpy(s->frames, frames, s->n_frames * sizeof(*frames));
	for (size_t i = 0; i < s->n_parts; i++)
		s->parts[i] = numbers[s->parts[i]];
	rc = 0;
out:
	free(order);
	free(numbers);
	free(frames);
	return rc;
}

static uint32_t median(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	return c < low ? low : c > high ? high : c;
}

static void swap(struct bb_stack *a, struct bb_stack *b)
{
	struct bb_stack t = *a;

	*a = *b;
	*b = t;
}

/*
 * v[n], which have their `depth` outer frames in common: multikey quicksort (Bentley & Sedgewick
 * 1997), which looks at no frame again of which it knows that all have it. The frame that they are
 * compared by lies in `shared` meanwhile: parts are far apart in memory.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as quicksort is */
static void sort(const uint32_t *parts, struct bb_stack *v, size_t n, uint32_t depth)
{
	while (n > 1) {
		size_t less = 0, greater = n;
		uint32_t pivot;

		for (size_t i = 0; i < n; i++)
			v[i].shared = depth < v[i].n ? parts[v[i].first + depth] + 1 : 0;
		pivot = median(v[n / 4].shared, v[n / 2].shared, v[n - 1 - n / 4].shared);
		for (size_t i = 0; i < greater;) {
			if (v[i].shared < pivot)
				swap(&v[i++], &v[less++]);
			else if (v[i].shared > pivot)
				swap(&v[i], &v[--greater]);
			else
				i++;
		}
		sort(parts, v, less, depth);
		sort(parts, v + greater, n - greater, depth);
		if (!pivot)
			return; /* they end here: all alike */
		v += less;
		n = greater - less;
		depth++;
	}
}

static uint32_t count_shared(const uint32_t *parts, const struct bb_stack *a,
			     const struct bb_stack *b)
{
	uint32_t n = 0;

	while (n < a->n && n < b->n && parts[a->first + n] == parts[b->first + n])
		n++;
	return n;
}

void bb_stacks__sort(struct bb_stacks *s)
{
	size_t n = 0;

	sort(s->parts, s->v, s->n, 0);
	s->total = 0;
	for (size_t i = 0, next; i < s->n; i = next) {
		struct bb_stack merged = s->v[i];

		for (next = i + 1; next < s->n; next++) {
			if (s->v[next].n != merged.n ||
			    count_shared(s->parts, &merged, &s->v[next]) != merged.n)
				break;
			merged.weight += s->v[next].weight;
		}
		merged.weight = round(merged.weight);
		merged.shared = n ? count_shared(s->parts, &s->v[n - 1], &merged) : 0;
		if (merged.weight > 0)
			s->v[n++] = merged;
		s->total += (uint64_t)merged.weight;
	}
	s->n = n;
}

const char *const bb_frame_suffixes[BB_N_FRAME_KINDS] = {
	[BB_FRAME_INLINED] = "_[i]",
	[BB_FRAME_JIT] = "_[j]",
	[BB_FRAME_KERNEL] = "_[k]",
};

/* What is written of each frame, frame i's from offsets[i] to offsets[i + 1]: "NAME_[k];". */
struct words {
	char *text;
	size_t *offsets;
};

static int make_words(const struct bb_stacks *s, struct words *w)
{
	size_t len;
	FILE *out = open_memstream(&w->text, &len);

	w->offsets = malloc((s->n_frames + 1) * sizeof(*w->offsets));
	if (!out || !w->offsets) {
		if (out)
			fclose(out);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->n_frames; i++) {
		const char *suffix = bb_frame_suffixes[s->frames[i].kind];

		w->offsets[i] = (size_t)ftell(out);
		for (const char *c = bb_stacks__name(s, i); *c; c++)
			putc(*c == ';'                               ? ':'
			     : (unsigned char)*c < ' ' || *c == 0x7f ? '?'
								     : *c,
			     out);
		fputs(suffix ? suffix : "", out);
		putc(';', out);
	}
	w->offsets[s->n_frames] = (size_t)ftell(out);
	return fclose(out) ? -ENOMEM : 0;
}

/* The line of a stack; its frames up to the k-th, with their ';', are text[0 .. ends[k]). */
struct line {
	char *text;
	size_t size;
	size_t *ends; /* ends[0] is 0 */
	size_t n_ends;
};

/* Only what the stack before it had not, is written anew. 0 or -ENOMEM. */
static int set_line(struct line *l, const struct bb_stacks *s, const struct bb_stack *stack,
		    const struct words *w)
{
	if (bb_reserve(&l->ends, stack->n + 1u, &l->n_ends, sizeof(*l->ends)))
		return -ENOMEM;
	l->ends[0] = 0;
	for (uint32_t k = stack->shared; k < stack->n; k++) {
		uint32_t frame = s->parts[stack->first + k];
		size_t len = w->offsets[frame + 1] - w->offsets[frame];

		if (bb_reserve(&l->text, l->ends[k] + len, &l->size, 1))
			return -ENOMEM;
		memcpy(l->text + l->ends[k], w->text + w->offsets[frame], len);
		l->ends[k + 1] = l->ends[k] + len;
	}
	return 0;
}

/* By hand: formatted output would take longer than all the rest of the line. */
static void write_weight(uint64_t weight, FILE *out)
{
	char text[24], *at = text + sizeof(text);

	*--at = '\n';
	for (; weight; weight /= 10)
		*--at = (char)('0' + weight % 10);
	*--at = ' ';
	fwrite(at, (size_t)(text + sizeof(text) - at), 1, out);
}

int bb_stacks__write_folded(const struct bb_stacks *s, FILE *out)
{
	struct words w = {0};
	struct line line = {0};
	int rc = make_words(s, &w);

	for (size_t i = 0; i < s->n && !rc; i++) {
		rc = set_line(&line, s, &s->v[i], &w);
		if (!rc && s->v[i].n)
			fwrite(line.text, line.ends[s->v[i].n] - 1, 1,
			       out); /* without the last ';' */
		if (!rc)
			write_weight((uint64_t)s->v[i].weight, out);
	}
	free(line.text);
	free(line.ends);
	free(w.text);
	free(w.offsets);
	return rc;
}

void bb_stacks__done(struct bb_stacks *s)
{
	bb_names__done(&s->names);
	free(s->frames);
	free(s->parts);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

#define MAX_FILE (64u << 20)
#define MAX_WEIGHT (1ULL << 53)

struct reading {
	struct bb_stacks stacks;
	struct bb_idmap frames; /* (name, kind) -> number */
	uint64_t weight;
};

static enum bb_frame_kind kind_of(const char *frame, size_t *len, bool is_first)
{
	if (is_first)
		return BB_FRAME_COMM;
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		const char *suffix = bb_frame_suffixes[kind];
		size_t n = suffix ? strlen(suffix) : 0;

		if (n && *len > n && !memcmp(frame + *len - n, suffix, n)) {
			*len -= n;
			return (enum bb_frame_kind)kind;
		}
	}
	if (*len == strlen(BB_NOTE_OFF_CPU) && !memcmp(frame, BB_NOTE_OFF_CPU, *len))
		return BB_FRAME_OFF_CPU;
	if ((*len == strlen(BB_NOTE_CUT) && !memcmp(frame, BB_NOTE_CUT, *len)) ||
	    (*len == strlen(BB_NOTE_LOST) && !memcmp(frame, BB_NOTE_LOST, *len)))
		return BB_FRAME_NOTE;
	return BB_FRAME_USER;
}

/* The number of the frame, which is new when it was not there. */
static int find_frame(struct reading *r, const char *text, size_t len, bool is_first,
		      uint32_t *ret_number)
{
	struct bb_frame frame = {.kind = kind_of(text, &len, is_first), .file = BB_NO_ID};

	if (bb_names__add(&r->stacks.names, text, len, &frame.name))
		return -ENOMEM;
	*ret_number = bb_idmap__get(&r->frames, frame.name, frame.kind);
	if (*ret_number != BB_NO_ID)
		return 0;
	*ret_number = (uint32_t)r->stacks.n_frames;
	if (bb_stacks__add_frame(&r->stacks, &frame))
		return -ENOMEM;
	return bb_idmap__put(&r->frames, frame.name, frame.kind, *ret_number);
}

static int add_stack(struct reading *r, const char *text, uint64_t weight, const char **ret_wrong)
{
	uint32_t frames[BB_FOLDED_FRAMES], n = 0;

	for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ';');
		if (n == BB_FOLDED_FRAMES) {
			*ret_wrong = "a stack of too many frames";
			return 0;
		}
		if (find_frame(r, at, (size_t)(end - at), at == text, &frames[n++]))
			return -ENOMEM;
	}
	return bb_stacks__add(&r->stacks, frames, n, (double)weight);
}

static int add_line(struct reading *r, char *text, const char *path, size_t number,
		    struct bb_err *err)
{
	char *space = strrchr(text, ' ');
	const char *wrong = NULL;
	uint64_t weight;

	if (!*text)
		return 0;
	if (!space || space == text) {
		wrong = "not 'frame;frame;... weight'";
	} else if (bb_parse_u64(space + 1, &weight)) {
		wrong = "the weight at its end is no whole number";
	} else if (weight > MAX_WEIGHT || r->weight + weight > MAX_WEIGHT) {
		return bb_fail(err, -EFBIG, "%s:%zu: the weights add up to more than 2^53", path,
			       number);
	} else {
		*space = '\0';
		r->weight += weight;
		if (add_stack(r, text, weight, &wrong))
			return bb_fail_nomem(err);
	}
	return wrong ? bb_fail(err, -EINVAL, "%s:%zu: not folded stacks: %s", path, number, wrong)
		     : 0;
}

/* The lines of text[len], which is written to. */
static int add_lines(char *text, size_t len, const char *path, struct reading *r,
		     struct bb_err *err)
{
	char *end = text + len;
	size_t number = 1;
	int rc = 0;

	if (strlen(text) != len)
		return bb_fail(err, -EINVAL, "%s: not folded stacks: there is a NUL byte in it",
			       path);
	for (char *next; !rc && text < end; text = next, number++) {
		char *newline = strchr(text, '\n');

		next = newline ? newline + 1 : end;
		if (newline)
			*newline = '\0';
		if (newline && newline > text && newline[-1] == '\r')
			newline[-1] = '\0';
		rc = add_line(r, text, path, number, err);
	}
	return rc;
}

int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err)
{
	struct reading r = {0};
	char *text;
	size_t len;
	int rc = bb_read_file(path, MAX_FILE, &text, &len, err);

	if (rc)
		return rc;
	rc = add_lines(text, len, path, &r, err);
	if (!rc && bb_stacks__sort_frames(&r.stacks))
		rc = bb_fail_nomem(err);
	if (rc) {
		bb_stacks__done(&r.stacks);
	} else {
		bb_stacks__sort(&r.stacks);
		*ret_stacks = r.stacks;
	}
	bb_idmap__done(&r.frames);
	free(text);
	return rc;
}
