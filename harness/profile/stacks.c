/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stacks.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"

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
