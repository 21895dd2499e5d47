/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stacks.h"

#include "base/io.h"
#include "base/parse.h"
#include "base/text.h"

#define MAX_FUNCTIONS 30u
#define MAX_STACKS 10u

/* weights of one function, added up over all stacks */
struct function {
	uint32_t frame;       /* index of a frame that has the function's name and kind */
	size_t seen;          /* 1 + index of the last stack in which we saw the function */
	uint64_t self, total; /* weight of the function alone, and with its callees */
};

static bool is_function(const struct bb_frame *f)
{
	return f->kind != BB_FRAME_COMM && f->kind != BB_FRAME_OFF_CPU && f->kind != BB_FRAME_NOTE;
}

static int frame_order(const struct bb_names *names, const struct bb_frame *a,
		       const struct bb_frame *b)
{
	int order = a->name == b->name ? 0
				       : strcmp(bb_names__text(names, a->name),
						bb_names__text(names, b->name));

	return order ?: BB_ORDER(a->kind, b->kind);
}

static int by_self(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return BB_ORDER(y->self, x->self) ?: BB_ORDER(y->total, x->total)
	       ?: BB_ORDER(x->frame, y->frame);
}

/* Writes a name, with '?' for control characters and, in folded stacks, ':' for ';'. */
static void write_name(const char *name, bool is_folded, FILE *out)
{
	for (const char *c = name; *c; c++) {
		bool is_control = (unsigned char)*c < ' ' || *c == 0x7f;

		putc_unlocked(is_control ? '?' : is_folded && *c == ';' ? ':' : *c, out);
	}
}

static void write_frame(const struct bb_stacks *s, uint32_t id, bool verbose, FILE *out)
{
	static const char *const words[BB_N_FRAME_KINDS] = {
		[BB_FRAME_INLINED] = " (inlined)",
		[BB_FRAME_JIT] = " (JIT)",
		[BB_FRAME_KERNEL] = " (kernel)",
	};
	const struct bb_frame *frame = &s->frames[id];

	write_name(bb_stacks__name(s, id), false, out);
	fputs(words[frame->kind] ? words[frame->kind] : "", out);
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

static void write_functions(const struct bb_stacks *s, FILE *out)
{
	struct function *v = bb_calloc(s->n_frames, sizeof(*v));
	size_t n = 0;

	/* Frames with the same name and kind are neighbours. Their weights are added up in the
	 * first of them. */
	for (uint32_t i = 0; i < s->n_frames; i++)
		v[i].frame = i && !frame_order(&s->names, &s->frames[i - 1], &s->frames[i])
				     ? v[i - 1].frame
				     : i;
	for (size_t i = 0; i < s->n; i++) {
		const struct bb_stack *stack = &s->v[i];
		const uint32_t *frames = s->parts + stack->first;
		uint32_t leaf = stack->n - 1;

		for (uint32_t k = 0; k < stack->n; k++) {
			struct function *f = &v[v[frames[k]].frame];

			/* a recursive function counts once for each stack */
			if (f->seen != i + 1)
				f->total += (uint64_t)stack->weight;
			f->seen = i + 1;
		}
		if (leaf && s->frames[frames[leaf]].kind == BB_FRAME_OFF_CPU)
			leaf--; /* the frame outside [off-CPU] is the function that waits */
		v[v[frames[leaf]].frame].self += (uint64_t)stack->weight;
	}
	for (uint32_t i = 0; i < s->n_frames; i++)
		if (v[i].frame == i && is_function(&s->frames[i]))
			v[n++] = v[i];
	qsort(v, n, sizeof(*v), by_self);
	fprintf(out, "  self %%  total %%  function\n");
	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		fprintf(out, "  %6.2f   %6.2f  ", percent(v[i].self, s->total),
			percent(v[i].total, s->total));
		write_frame(s, v[i].frame, false, out);
	}
	if (n > MAX_FUNCTIONS)
		fprintf(out, "  and %zu functions more\n", n - MAX_FUNCTIONS);
	free(v);
}

static int by_weight(const void *a, const void *b)
{
	const struct bb_stack *const *x = a, *const *y = b;

	return BB_ORDER((*y)->weight, (*x)->weight) ?: BB_ORDER(*x, *y);
}

void bb_stacks__write_text(const struct bb_stacks *s, const struct bb_text_opts *opts, FILE *out)
{
	fprintf(out, "%s\n\n", opts->title);
	if (!s->total) {
		fprintf(out, "Nothing was sampled: the workload did not run.\n");
		return;
	}
	write_functions(s, out);
	const struct bb_stack **stacks = bb_calloc(s->n, sizeof(*stacks));
	for (size_t i = 0; i < s->n; i++)
		stacks[i] = &s->v[i];
	qsort(stacks, s->n, sizeof(*stacks), by_weight);
	fprintf(out, "\nThe hottest of %zu stacks, innermost frame first:\n", s->n);
	for (size_t i = 0; i < s->n && i < MAX_STACKS; i++) {
		const uint32_t *frames = s->parts + stacks[i]->first;
		double weight = stacks[i]->weight;
		bool has_kernel = BB_ANY(frames, stacks[i]->n,
					 s->frames[*it].kind == BB_FRAME_KERNEL);

		fprintf(out, "\n  %.2f %%, %.0f %s\n", percent((uint64_t)weight, s->total), weight,
			opts->unit);
		if (!has_kernel)
			fprintf(out, "    No Kernel Stack\n");
		for (uint32_t k = stacks[i]->n; k-- > 0;) {
			fprintf(out, "    ");
			write_frame(s, frames[k], opts->verbose, out);
		}
	}
	free(stacks);
}

uint32_t bb_stacks__intern_frame(struct bb_stacks *s, const struct bb_frame *frame, uint32_t before)
{
	uint64_t key = (uint64_t)frame->name * BB_N_FRAME_KINDS + frame->kind;
	uint32_t number = bb_idmap__get(&s->by_name, key, before);

	if (number != BB_NO_ID)
		return number;
	number = (uint32_t)s->n_frames;
	BB_PUSH(s->frames, s->n_frames, *frame);
	bb_idmap__put(&s->by_name, key, before, number);
	return number;
}

uint32_t bb_stacks__frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind)
{
	struct bb_frame f = {.file = BB_NO_ID, .kind = kind};
	char clean[240];

	snprintf(clean, sizeof(clean), "%s", name);
	bb_make_clean(clean);
	f.name = bb_names__add(&s->names, clean, strlen(clean));
	return bb_stacks__intern_frame(s, &f, BB_NO_ID);
}

void bb_stacks__add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight)
{
	bb_reserve(&s->parts, s->n_parts + n, &s->parts_size, sizeof(*s->parts));
	BB_PUSH(s->v, s->n, (struct bb_stack){.first = s->n_parts, .n = n, .weight = weight});
	memcpy(s->parts + s->n_parts, frames, n * sizeof(*frames));
	s->n_parts += n;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct bb_stacks *s = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return frame_order(&s->names, &s->frames[x], &s->frames[y]) ?: BB_ORDER(x, y);
}

static uint32_t count_shared(const uint32_t *parts, const struct bb_stack *a,
			     const struct bb_stack *b)
{
	uint32_t n = 0;

	while (n < a->n && n < b->n && parts[a->first + n] == parts[b->first + n])
		n++;
	return n;
}

static int by_frames(const void *a, const void *b, void *parts)
{
	const struct bb_stack *x = a, *y = b;
	const uint32_t *of = parts;
	uint32_t n = count_shared(of, x, y);

	if (n == x->n || n == y->n)
		return BB_ORDER(x->n, y->n);
	return of[x->first + n] < of[y->first + n] ? -1 : 1;
}

static void swap_stacks(struct bb_stack *a, struct bb_stack *b)
{
	struct bb_stack t = *a;

	*a = *b;
	*b = t;
}

#define MAX_DEPTH 32u

/* Sorts v[n], stacks with the same `n_outer` outer frames, by multikey quicksort (Bentley &
 * Sedgewick 1997), which does not compare again the frames that stacks share. Meanwhile, `shared`
 * is 1 + the frame to compare, or 0 where a stack ends. Folded stacks are untrusted: an order that
 * makes quicksort slow ends in qsort_r().
 * NOLINTNEXTLINE(misc-no-recursion): `depth` has a limit */
static void sort_stacks(struct bb_stack *v, size_t n, uint32_t n_outer, uint32_t *parts,
			uint32_t depth)
{
	while (n > 1) {
		size_t less = 0, greater = n;

		if (depth == MAX_DEPTH) {
			qsort_r(v, n, sizeof(*v), by_frames, parts);
			return;
		}
		for (size_t i = 0; i < n; i++)
			v[i].shared = n_outer < v[i].n ? parts[v[i].first + n_outer] + 1 : 0;
		uint32_t pivot = v[n / 2].shared;
		for (size_t i = 0; i < greater;) {
			if (v[i].shared < pivot)
				swap_stacks(&v[i++], &v[less++]);
			else if (v[i].shared > pivot)
				swap_stacks(&v[i], &v[--greater]);
			else
				i++;
		}
		sort_stacks(v, less, n_outer, parts, depth + 1);
		sort_stacks(v + greater, n - greater, n_outer, parts, depth + 1);
		n = pivot ? greater - less : 0; /* stacks that end here are equal */
		v += less;
		n_outer++;
	}
}

void bb_stacks__sort(struct bb_stacks *s)
{
	uint32_t *order = bb_calloc(2 * s->n_frames, sizeof(*order));
	uint32_t *numbers = order + s->n_frames;
	struct bb_frame *frames = bb_calloc(s->n_frames, sizeof(*frames));
	size_t n = 0;

	/* Renumber the frames in order of name and kind. */
	for (uint32_t i = 0; i < s->n_frames; i++)
		order[i] = i;
	qsort_r(order, s->n_frames, sizeof(*order), by_name, s);
	for (uint32_t i = 0; i < s->n_frames; i++) {
		frames[i] = s->frames[order[i]];
		numbers[order[i]] = i;
	}
	for (size_t i = 0; i < s->n_parts; i++)
		s->parts[i] = numbers[s->parts[i]];
	free(order);
	free(s->frames);
	s->frames = frames;
	sort_stacks(s->v, s->n, 0, s->parts, 0);
	s->total = 0;
	for (size_t i = 0, next; i < s->n; i = next) {
		struct bb_stack merged = s->v[i];

		for (next = i + 1; next < s->n && !by_frames(&merged, &s->v[next], s->parts);
		     next++)
			merged.weight += s->v[next].weight;
		merged.weight = round(merged.weight);
		merged.shared = n ? count_shared(s->parts, &s->v[n - 1], &merged) : 0;
		if (merged.weight > 0)
			s->v[n++] = merged;
		s->total += (uint64_t)merged.weight;
	}
	s->n = n;
}

/* Suffixes that tell the kind of a frame in folded stacks, as other tools write them. */
static const char *const suffixes[BB_N_FRAME_KINDS] = {
	[BB_FRAME_INLINED] = "_[i]",
	[BB_FRAME_JIT] = "_[j]",
	[BB_FRAME_KERNEL] = "_[k]",
};

/* Makes the text of each frame, with a ';' at its end. The text of frame i ends where that of
 * frame i + 1 begins: at ret_begin[i + 1]. */
static char *frame_texts(const struct bb_stacks *s, size_t *ret_begin)
{
	char *texts;
	size_t len;
	FILE *out = bb_open_memstream(&texts, &len);

	for (uint32_t i = 0; i < s->n_frames; i++) {
		const char *suffix = suffixes[s->frames[i].kind];

		write_name(bb_stacks__name(s, i), true, out);
		fprintf(out, "%s;", suffix ? suffix : "");
		ret_begin[i + 1] = (size_t)ftell(out);
	}
	bb_close_memstream(out);
	return texts;
}

void bb_stacks__write_folded(const struct bb_stacks *s, FILE *out)
{
	size_t *begin = bb_calloc(s->n_frames + 1, sizeof(*begin)), *ends = NULL;
	char *texts = frame_texts(s, begin), *line = NULL;
	size_t line_size = 0, n_ends = 0;

	/* The outer frames that a stack shares with the one before are in `line`: the first k end
	 * at ends[k]. */
	for (size_t i = 0; i < s->n; i++) {
		const struct bb_stack *stack = &s->v[i];

		bb_reserve(&ends, stack->n + 1, &n_ends, sizeof(*ends));
		ends[0] = 0;
		for (uint32_t k = stack->shared; k < stack->n; k++) {
			uint32_t frame = s->parts[stack->first + k];
			size_t len = begin[frame + 1] - begin[frame];

			ends[k + 1] = ends[k] + len;
			bb_reserve(&line, ends[k + 1], &line_size, 1);
			memcpy(line + ends[k], texts + begin[frame], len);
		}
		fprintf(out, "%.*s %" PRIu64 "\n", (int)ends[stack->n] - 1, line,
			(uint64_t)stack->weight);
	}
	free(begin);
	free(ends);
	free(texts);
	free(line);
}

void bb_stacks__done(struct bb_stacks *s)
{
	bb_names__done(&s->names);
	bb_idmap__done(&s->by_name);
	free(s->frames);
	free(s->parts);
	free(s->v);
	memset(s, 0, sizeof(*s));
}

#define MAX_FILE (64u << 20)
#define MAX_WEIGHT (1ULL << 53)

static enum bb_frame_kind kind_of(const char *frame, size_t *len, bool is_first)
{
	static const struct {
		const char *text;
		enum bb_frame_kind kind;
	} notes[] = {{BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU},
		     {BB_NOTE_CUT, BB_FRAME_NOTE},
		     {BB_NOTE_LOST, BB_FRAME_NOTE}};

	if (is_first)
		return BB_FRAME_COMM;
	for (int kind = 0; kind < BB_N_FRAME_KINDS; kind++) {
		const char *suffix = suffixes[kind];
		size_t n = suffix ? strlen(suffix) : 0;

		if (n && *len > n && !memcmp(frame + *len - n, suffix, n)) {
			*len -= n;
			return (enum bb_frame_kind)kind;
		}
	}
	for (size_t i = 0; i < BB_LEN(notes); i++)
		if (*len == strlen(notes[i].text) && !memcmp(frame, notes[i].text, *len))
			return notes[i].kind;
	return BB_FRAME_USER;
}

static int add_stack(struct bb_stacks *s, const char *text, uint64_t weight)
{
	uint32_t numbers[BB_FOLDED_FRAMES], n = 0;

	for (const char *at = text, *end; at; at = *end ? end + 1 : NULL) {
		struct bb_frame frame = {.file = BB_NO_ID};

		if (n == BB_FOLDED_FRAMES)
			return -EINVAL;
		end = strchrnul(at, ';');
		size_t len = (size_t)(end - at);
		frame.kind = kind_of(at, &len, at == text);
		frame.name = bb_names__add(&s->names, at, len);
		numbers[n++] = bb_stacks__intern_frame(s, &frame, BB_NO_ID);
	}
	bb_stacks__add(s, numbers, n, (double)weight);
	return 0;
}

/* Adds the stack in line `number`. `*total` is the sum of the weights so far. */
static int add_line(struct bb_stacks *s, char *text, uint64_t *total, const char *path,
		    size_t number, struct bb_err *err)
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
	} else if (weight > MAX_WEIGHT || *total + weight > MAX_WEIGHT) {
		return bb_fail(err, -EFBIG, "%s:%zu: the weights add up to more than 2^53", path,
			       number);
	} else {
		*space = '\0';
		*total += weight;
		wrong = add_stack(s, text, weight) ? "a stack of too many frames" : NULL;
	}
	return wrong ? bb_fail(err, -EINVAL, "%s:%zu: not folded stacks: %s", path, number, wrong)
		     : 0;
}

int bb_folded__read(const char *path, struct bb_stacks *ret_stacks, struct bb_err *err)
{
	struct bb_stacks stacks = {0};
	size_t len, number = 1;
	uint64_t total = 0;
	char *text;
	int rc = bb_read_file(path, MAX_FILE, &text, &len, err);

	if (rc)
		return rc;
	if (strlen(text) != len)
		rc = bb_fail(err, -EINVAL, "%s: not folded stacks: there is a NUL byte in it",
			     path);
	for (char *line = text, *next; !rc && line < text + len; line = next, number++) {
		size_t n = strcspn(line, "\n");

		next = line + n + 1;
		line[n] = '\0';
		if (n && line[n - 1] == '\r')
			line[n - 1] = '\0';
		rc = add_line(&stacks, line, &total, path, number, err);
	}
	bb_stacks__sort(&stacks);
	if (rc)
		bb_stacks__done(&stacks);
	else
		*ret_stacks = stacks;
	free(text);
	return rc;
}
