/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The search of --try-inputs on invented programs. Each is a function of the state that returns how
 * many instructions a run executes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/try_search.h"

struct fake {
	struct bb_try_search search;
	uint32_t (*program)(const struct bb_try_state *s);
	uint32_t most; /* most instructions of one run so far */
	uint64_t limit;
	int64_t constants[3];
	bool offers; /* the program offers an entry of a map */
};

static const struct bb_try_part *part(const struct bb_try_state *s, enum bb_try_kind kind)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].kind == kind)
			return &s->v[i];
	return NULL;
}

static uint32_t run(void *arg, bool *ret_is_new)
{
	struct fake *f = arg;
	uint32_t n = f->program(&f->search.now);

	*ret_is_new = n > f->most;
	f->most = n > f->most ? n : f->most;
	return n;
}

static void look(void *arg)
{
	struct fake *f = arg;
	struct bb_try_part *p;

	free(f->search.constants);
	f->search.constants = malloc(sizeof(f->constants));
	assert_non_null(f->search.constants);
	memcpy(f->search.constants, f->constants, sizeof(f->constants));
	f->search.n_constants = 3;
	p = f->offers ? bb_try_state__offer(&f->search.now, BB_TRY_VALUE, "map", "key", 3, 8)
		      : NULL;
	if (p)
		p->is_absent = true;
}

static bool must_end(void *arg)
{
	const struct fake *f = arg;

	return f->search.runs >= f->limit;
}

static void search(struct fake *f, uint32_t input_bytes)
{
	f->search.run = run;
	f->search.look = look;
	f->search.must_end = must_end;
	f->search.arg = f;
	f->limit = f->limit ? f->limit : 100000;
	bb_rng_seed(&f->search.rng, 1);
	if (input_bytes)
		assert_non_null(bb_try_state__offer(&f->search.now, BB_TRY_INPUT, "", NULL, 0,
						    input_bytes));
	bb_try_search__go(&f->search);
	f->limit += f->search.runs;
	bb_try_search__take_back(&f->search);
	f->limit -= f->search.runs;
}

static void done(struct fake *f)
{
	bb_try_state__done(&f->search.now);
	free(f->search.constants);
}

/* A field in network byte order at an odd offset, then a minimum length. */
static uint32_t parser(const struct bb_try_state *s)
{
	const struct bb_try_part *p = part(s, BB_TRY_INPUT);

	if (p->bytes[13] != 0x12 || p->bytes[14] != 0x34)
		return 10;
	return p->len < 128 ? 20 : 30;
}

static void test_fields_and_lengths(void **state)
{
	struct fake f = {.program = parser, .constants = {99, 0x1234, 5}};

	(void)state;
	search(&f, 64);
	assert_int_equal(f.search.best, 30);
	assert_int_equal(parser(&f.search.now), 30);
	done(&f);
}

/* A map entry that must be present, with a number in its value. */
static uint32_t lookup(const struct bb_try_state *s)
{
	const struct bb_try_part *p = part(s, BB_TRY_VALUE);

	if (!p || !p->is_set)
		return 10;
	return bb_try_part__number(p) >> 32 == 7 ? 40 : 12;
}

static void test_entries(void **state)
{
	struct fake f = {.program = lookup, .constants = {7, 8, 9}, .offers = true};
	const struct bb_try_part *p;

	(void)state;
	assert_non_null(bb_try_state__offer(&f.search.now, BB_TRY_GLOBAL, "debug", NULL, 0, 4));
	search(&f, 0);
	assert_int_equal(f.search.best, 40);
	p = part(&f.search.now, BB_TRY_VALUE);
	assert_true(p->is_set && !memcmp(p->key, "key", 3));
	assert_false(part(&f.search.now, BB_TRY_GLOBAL)->is_set);
	done(&f);
}

/* One switch that skips half of the program, and one that adds to it. */
static uint32_t switches(const struct bb_try_state *s)
{
	uint32_t n = 10;

	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].is_set && s->v[i].bytes[0] == 1)
			n = !strcmp(s->v[i].name, "on") ? n + 50 : n / 2;
	return n;
}

static void test_globals(void **state)
{
	struct fake f = {.program = switches};

	(void)state;
	assert_non_null(bb_try_state__offer(&f.search.now, BB_TRY_GLOBAL, "off", NULL, 0, 1));
	assert_non_null(bb_try_state__offer(&f.search.now, BB_TRY_GLOBAL, "on", NULL, 0, 1));
	search(&f, 0);
	assert_int_equal(f.search.best, 60);
	assert_false(f.search.now.v[0].is_set);
	assert_true(f.search.now.v[1].is_set);
	done(&f);
}

/* A number that no guess finds, and a global of the program's own state. */
static uint32_t compares(const struct bb_try_state *s)
{
	return bb_try_part__number(&s->v[0]) == 4711 ? bb_try_part__number(&s->v[1]) ? 50 : 40 : 10;
}

/* A global that a branch compares is set to numbers next to the compared one. A global of the
 * program's own state is not changed unless a branch compares it. */
static void test_wanted(void **state)
{
	for (int wanted = 0; wanted < 2; wanted++) {
		struct fake f = {.program = compares};
		struct bb_try_part *p;

		p = bb_try_state__offer(&f.search.now, BB_TRY_GLOBAL, "limit", NULL, 0, 4);
		assert_non_null(p);
		p->is_wanted = true;
		p->near = 4712;
		p = bb_try_state__offer(&f.search.now, BB_TRY_GLOBAL, "sampled", NULL, 0, 1);
		assert_non_null(p);
		p->is_state = true;
		p->is_wanted = wanted;
		search(&f, 0);
		assert_int_equal(f.search.best, wanted ? 50 : 40);
		done(&f);
	}
	(void)state;
}

/* A header that no change of the first input gives, and a field after it. */
static uint32_t header(const struct bb_try_state *s)
{
	const struct bb_try_part *p = part(s, BB_TRY_INPUT);

	if (p->len < 20 || memcmp(p->bytes, "a real header", 13))
		return 10;
	return p->bytes[19] == 99 ? 40 : 30;
}

static void test_starts(void **state)
{
	struct fake f = {.program = header, .constants = {1, 2, 99}};
	static const char *const texts[] = {"an other one", "a real header 7654321", "a real"};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct bb_bytes *b = bb_append(&f.search.starts, &f.search.n_starts, sizeof(*b));

		assert_non_null(b);
		*b = (struct bb_bytes){(uint8_t *)(uintptr_t)texts[i], strlen(texts[i])};
	}
	search(&f, 8);
	assert_int_equal(f.search.best, 40);
	assert_int_equal(part(&f.search.now, BB_TRY_INPUT)->len, 21);
	free(f.search.starts);
	done(&f);
}

static uint32_t wall(const struct bb_try_state *s)
{
	(void)s;
	return 10;
}

/* A program on which nothing has an effect: the search ends by itself or at its limit, and sets
 * nothing. */
static void test_ends(void **state)
{
	struct fake f = {.program = wall}, few = {.program = wall, .limit = 100};

	(void)state;
	search(&f, 64);
	assert_true(f.search.runs < f.limit);
	assert_int_equal(f.search.best, 10);
	assert_false(f.search.now.v[0].is_set);
	done(&f);
	search(&few, 64);
	assert_in_range(few.search.runs, 100, 110);
	done(&few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_and_lengths),
		cmocka_unit_test(test_entries),
		cmocka_unit_test(test_globals),
		cmocka_unit_test(test_wanted),
		cmocka_unit_test(test_starts),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
