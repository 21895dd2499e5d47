/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/try_search.h"

#define MOST_OFFSETS 192u /* bytes at the beginning of a part that are changed */
/* bytes at the beginning of an input that are set to all 256 values */
#define MOST_BYTES 64u
#define MOST_WAITING 64u /* most states that wait until the search continues from them */
#define STAGES 4u        /* stages of the search: quick, globals, thorough, random */
/* runs with random changes, which are tried when no other change helps */
#define RANDOM_RUNS 20000u
#define MOST_AT_ONCE 4u
#define LONGEST_INPUT 1500u

struct bb_try_waiting {
	struct bb_try_state state;
	uint32_t executed;
	unsigned int stage;
};

void bb_try_state__done(struct bb_try_state *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->v[i].bytes);
	free(s->v);
	*s = (struct bb_try_state){0};
}

static struct bb_try_part *append_part(struct bb_try_state *s, const struct bb_try_part *like)
{
	struct bb_try_part *p = bb_append(&s->v, &s->n, sizeof(*p));

	*p = *like;
	p->bytes = like->bytes ? bb_memdup(like->bytes, like->len) : bb_calloc(1, like->len);
	return p;
}

static struct bb_try_state copy_of(const struct bb_try_state *from)
{
	struct bb_try_state copy = {0};

	for (size_t i = 0; i < from->n; i++)
		append_part(&copy, &from->v[i]);
	return copy;
}

struct bb_try_part *bb_try_state__offer(struct bb_try_state *s, enum bb_try_kind kind,
					const char *name, const void *key, uint32_t key_len,
					uint32_t len)
{
	struct bb_try_part p = {.kind = kind, .key_len = key_len, .len = len};

	if (key_len > sizeof(p.key) || strlen(name) >= sizeof(p.name))
		return NULL;
	if (BB_ANY(s->v, s->n,
		   it->kind == kind && !strcmp(it->name, name) && it->key_len == key_len &&
			   !memcmp(it->key, key, key_len)))
		return NULL;
	memcpy(p.name, name, strlen(name));
	if (key_len)
		memcpy(p.key, key, key_len);
	return append_part(s, &p);
}

/* Returns true if the search continues from `a` before `b`. `a` then has an earlier stage or, at an
 * equal stage, executes more instructions. */
static bool comes_before(const struct bb_try_waiting *a, const struct bb_try_waiting *b)
{
	return a->stage != b->stage ? a->stage < b->stage : a->executed > b->executed;
}

/* Keeps the present state to continue from it later, unless all stages are done. If too many states
 * wait, drops the last one in the order of comes_before(). */
static void wait_with(struct bb_try_search *s, uint32_t executed, unsigned int stage)
{
	struct bb_try_waiting w = {.executed = executed, .stage = stage}, *last = s->waiting;

	if (stage == STAGES)
		return;
	w.state = copy_of(&s->now);
	for (size_t i = 0; i < s->n_waiting; i++)
		last = comes_before(last, &s->waiting[i]) ? &s->waiting[i] : last;
	if (s->n_waiting < MOST_WAITING) {
		last = bb_append(&s->waiting, &s->n_waiting, sizeof(*s->waiting));
	} else if (!comes_before(&w, last)) {
		bb_try_state__done(&w.state);
		return;
	}
	bb_try_state__done(&last->state);
	*last = w;
}

/* Returns true if the program executes more instructions than before or, with `as_good`, as
 * many. */
static bool run_helps(struct bb_try_search *s, bool as_good)
{
	bool is_new = false;
	uint32_t executed = s->run(s->arg, &is_new);

	s->runs++;
	if (executed > s->level || (as_good && executed && executed == s->level)) {
		s->level = executed;
		s->best = executed > s->best ? executed : s->best;
		s->look(s->arg);
		return true;
	}
	if (is_new)
		wait_with(s, executed, 0);
	return false;
}

/* Writes a number of `size` bytes, big-endian if `is_big` is true. */
static void write_number(uint8_t *bytes, int64_t number, uint32_t size, bool is_big)
{
	for (uint32_t i = 0; i < size; i++)
		bytes[is_big ? size - 1 - i : i] = (uint8_t)((uint64_t)number >> 8 * i);
}

/* Returns true if the number fits into `size` bytes, signed or unsigned. */
static bool fits(int64_t number, uint32_t size)
{
	return size == 8 ||
	       (number >= -((int64_t)1 << (8 * size - 1)) && number < (int64_t)1 << 8 * size);
}

/* Replaces the bytes of part `nth` by bytes[len], which it takes over. If this does not help,
 * restores the old ones and returns false. */
static bool try_bytes(struct bb_try_search *s, size_t nth, uint8_t *bytes, uint32_t len)
{
	struct bb_try_part before = s->now.v[nth], *p = &s->now.v[nth];

	p->bytes = bytes;
	p->len = len;
	p->is_set = true;
	if (run_helps(s, false)) {
		free(before.bytes);
		return true;
	}
	s->now.v[nth] = before;
	free(bytes);
	return false;
}

static bool try_number(struct bb_try_search *s, size_t nth, uint32_t at, int64_t number,
		       uint32_t size, bool is_big)
{
	const struct bb_try_part *p = &s->now.v[nth];
	uint8_t *bytes = bb_memdup(p->bytes, p->len);

	write_number(bytes + at, number, size, is_big);
	if (!p->is_set || memcmp(bytes, p->bytes, p->len) != 0)
		return try_bytes(s, nth, bytes, p->len);
	free(bytes);
	return false;
}

static bool try_constant(struct bb_try_search *s, size_t nth, int64_t number)
{
	const struct bb_try_part *p = &s->now.v[nth];
	uint32_t step, len = p->len < MOST_OFFSETS ? p->len : MOST_OFFSETS;

	for (uint32_t size = 1; size <= 8 && size <= p->len; size *= 2) {
		if (!fits(number, size) ||
		    (p->kind == BB_TRY_GLOBAL ? size != p->len
					      : size > 2 && fits(number, size / 2)))
			continue;
		step = p->kind == BB_TRY_INPUT ? 1 : size;
		for (uint32_t at = 0; at + size <= len; at += step)
			for (int big = 0; big < (size > 1 && p->kind != BB_TRY_GLOBAL ? 2 : 1);
			     big++) {
				if (s->must_end(s->arg))
					return false;
				if (try_number(s, nth, at, number, size, big))
					return true;
			}
	}
	return false;
}

/* Adds a map entry of zeros. Keeps it unless the program then executes fewer instructions. */
static bool try_entry(struct bb_try_search *s, size_t nth)
{
	s->now.v[nth].is_set = true;
	if (run_helps(s, true))
		return true;
	s->now.v[nth].is_set = false;
	return false;
}

static bool try_programs(struct bb_try_search *s, size_t nth)
{
	for (uint8_t i = 1; i <= s->now.v[nth].n_choices && !s->must_end(s->arg); i++)
		if (try_number(s, nth, 0, i, 1, false))
			return true;
	return false;
}

static bool try_every_byte(struct bb_try_search *s, size_t nth)
{
	for (uint32_t at = 0; at < s->now.v[nth].len && at < MOST_BYTES; at++)
		for (int64_t value = 0; value < 256 && !s->must_end(s->arg); value++)
			if (try_number(s, nth, at, value, 1, false))
				return true;
	return false;
}

static bool try_lengths(struct bb_try_search *s, size_t nth)
{
	static const uint32_t lengths[] = {60, 98, 128, 256, 600, LONGEST_INPUT};

	for (size_t i = 0; i < BB_LEN(lengths) && !s->must_end(s->arg); i++) {
		const struct bb_try_part *p = &s->now.v[nth];
		uint8_t *bytes = bb_calloc(1, lengths[i]);

		memcpy(bytes, p->bytes, p->len < lengths[i] ? p->len : lengths[i]);
		if (try_bytes(s, nth, bytes, lengths[i]))
			return true;
	}
	return false;
}

/* Runs the program on each start input, with the present globals and map entries. The highest
 * `level` keeps no state as better, so states that reach new basic blocks only wait. */
static void try_starts(struct bb_try_search *s)
{
	uint32_t level = s->level;

	s->level = UINT32_MAX;
	for (size_t nth = 0; nth < s->now.n; nth++)
		for (size_t i = 0; s->now.v[nth].kind == BB_TRY_INPUT && i < s->n_starts; i++)
			try_bytes(s, nth, bb_memdup(s->starts[i].data, s->starts[i].len),
				  (uint32_t)s->starts[i].len);
	s->level = level;
}

/* Tries for a global the number that a branch compares it with, and the numbers beside it. */
static bool try_wanted(struct bb_try_search *s, size_t nth)
{
	static const int64_t steps[] = {1, 0, -1};
	const int64_t near = s->now.v[nth].near;

	for (size_t i = 0; i < BB_LEN(steps) && !s->must_end(s->arg); i++)
		if (fits(near + steps[i], s->now.v[nth].len) &&
		    try_number(s, nth, 0, near + steps[i], s->now.v[nth].len, false))
			return true;
	return false;
}

/* Tries changes of part `nth` until one helps. `thorough` adds changes that take long. */
static bool try_part(struct bb_try_search *s, size_t nth, bool thorough)
{
	static const int64_t always[] = {1, 0, -1, 2, 255};
	const struct bb_try_part *p = &s->now.v[nth];
	bool is_global = p->kind == BB_TRY_GLOBAL, helped = false;
	size_t n_always = p->kind == BB_TRY_INPUT ? 0 : is_global ? 2 : BB_LEN(always);

	if (p->kind == BB_TRY_PROGRAM)
		return try_programs(s, nth);
	if (p->is_absent && !p->is_set && try_entry(s, nth))
		return true;
	if (p->is_wanted && try_wanted(s, nth))
		return true;
	for (size_t i = 0; !helped && i < n_always; i++)
		helped = try_constant(s, nth, always[i]);
	/* ends after a run that helped, because it has replaced `constants` */
	for (size_t i = 0; !helped && (thorough || !is_global) && i < s->n_constants; i++)
		helped = try_constant(s, nth, s->constants[i]);
	if (!helped && thorough && s->now.v[nth].kind == BB_TRY_INPUT)
		helped = try_lengths(s, nth) || try_every_byte(s, nth);
	return helped;
}

/* Tries all parts until nothing helps. `globals` includes globals without `is_wanted`. */
static void try_parts(struct bb_try_search *s, bool thorough, bool globals)
{
	bool again = true;

	while (again && !s->must_end(s->arg)) {
		again = false;
		for (int kind = BB_TRY_PROGRAM; kind <= BB_TRY_GLOBAL; kind++)
			/* a run may add parts, so `now.n` may grow */
			for (size_t i = 0; i < s->now.n && !s->must_end(s->arg); i++) {
				const struct bb_try_part *p = &s->now.v[i];

				if (p->kind != (enum bb_try_kind)kind)
					continue;
				if (kind == BB_TRY_GLOBAL && (!globals || p->is_state))
					again |= p->is_wanted && try_wanted(s, i);
				else
					again |= try_part(s, i, thorough);
			}
	}
}

/* Makes several random changes at once in the input or in one map entry. */
static bool try_random(struct bb_try_search *s)
{
	size_t nth = s->now.n ? bb_rng_below(&s->rng, s->now.n) : 0;
	const struct bb_try_part *p = s->now.n ? &s->now.v[nth] : NULL;
	uint8_t *bytes;
	uint32_t len;

	if (!p || (p->kind != BB_TRY_INPUT && p->kind != BB_TRY_VALUE) || !p->len)
		return false;
	len = p->len < MOST_OFFSETS ? p->len : MOST_OFFSETS;
	bytes = bb_memdup(p->bytes, p->len);
	for (uint64_t i = bb_rng_below(&s->rng, MOST_AT_ONCE) + 1; i; i--) {
		uint32_t size = 1U << bb_rng_below(&s->rng, 4);
		bool is_constant = s->n_constants && bb_rng_below(&s->rng, 4);
		int64_t number = is_constant ? s->constants[bb_rng_below(&s->rng, s->n_constants)]
					     : (int64_t)bb_rng_u64(&s->rng);

		if (size <= len)
			write_number(bytes + bb_rng_below(&s->rng, len - size + 1), number, size,
				     bb_rng_below(&s->rng, 2));
	}
	return try_bytes(s, nth, bytes, p->len);
}

/* Replaces the present state by the waiting state to continue from. Returns false if none waits. */
static bool take_waiting(struct bb_try_search *s, unsigned int *ret_stage)
{
	struct bb_try_waiting *first = s->waiting;
	bool unused;

	for (size_t i = 0; i < s->n_waiting; i++)
		first = comes_before(&s->waiting[i], first) ? &s->waiting[i] : first;
	if (!s->n_waiting)
		return false;
	bb_try_state__done(&s->now);
	s->now = first->state;
	*ret_stage = first->stage;
	*first = s->waiting[--s->n_waiting];
	s->level = 0;
	s->level = s->run(s->arg, &unused);
	s->look(s->arg);
	return true;
}

void bb_try_search__go(struct bb_try_search *s)
{
	struct bb_try_state best = {0};
	uint32_t of_best = 0;
	unsigned int stage = 0;

	run_helps(s, true);
	try_starts(s);
	wait_with(s, s->level, 0);
	while ((of_best == 0 || !s->must_end(s->arg)) && take_waiting(s, &stage)) {
		uint32_t before = s->level;

		if (stage < STAGES - 1)
			try_parts(s, stage == 2, stage > 0);
		for (uint32_t i = 0; stage == STAGES - 1 && i < RANDOM_RUNS && !s->must_end(s->arg);
		     i++)
			if (try_random(s))
				break;
		wait_with(s, s->level, s->level > before ? 0 : stage + 1);
		if (s->level <= of_best)
			continue;
		of_best = s->level;
		bb_try_state__done(&best);
		best = copy_of(&s->now);
	}
	if (of_best) {
		bb_try_state__done(&s->now);
		s->now = best;
	}
	s->best = of_best;
	for (size_t i = 0; i < s->n_waiting; i++)
		bb_try_state__done(&s->waiting[i].state);
	free(s->waiting);
	s->waiting = NULL;
	s->n_waiting = 0;
}

void bb_try_search__take_back(struct bb_try_search *s)
{
	bool unused;

	s->level = 0;
	for (size_t i = s->now.n; i-- > 0 && !s->must_end(s->arg);) {
		if (!s->now.v[i].is_set || s->now.v[i].kind == BB_TRY_INPUT)
			continue;
		s->now.v[i].is_set = false;
		if (s->run(s->arg, &unused) < s->best)
			s->now.v[i].is_set = true;
	}
}
