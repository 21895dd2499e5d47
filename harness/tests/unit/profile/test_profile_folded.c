/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading folded stacks: what was written is read again, in any order, and a bad line is an error
 * with its place. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "profile/stacks.h"
#include "unit/folder_testing.h"

static int read_bytes(const char *text, size_t len, struct bb_stacks *ret_stacks,
		      struct bb_err *err)
{
	const char *path = in_folder("a.folded");
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	return bb_folded__read(path, ret_stacks, err);
}

static struct bb_stacks read_ok(const char *text)
{
	struct bb_stacks s;
	struct bb_err err = {0};

	if (read_bytes(text, strlen(text), &s, &err))
		fail_msg("%s", err.msg);
	return s;
}

static char *written(const struct bb_stacks *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	bb_stacks__write_folded(s, out);
	fclose(out);
	return text;
}

/* The same stack twice, equal stacks apart from each other, and a name that begins like another:
 * each stack is written once, in order of the names. */
static void any_order(void **state)
{
	struct bb_stacks s = read_ok("b;main;f 2\na;main 1\r\nb;main2 5\n\nb;main;f;g_[k] "
				     "3\na;main 4\nb;main 1\nb;main;f 1");
	char *text = written(&s);

	(void)state;
	assert_string_equal(text, "a;main 5\nb;main 1\nb;main;f 3\nb;main;f;g_[k] 3\nb;main2 5\n");
	assert_int_equal(s.total, 17);
	assert_int_equal(s.n, 5);
	assert_int_equal(s.n_frames, 6);
	free(text);
	bb_stacks__done(&s);
}

static void kinds(void **state)
{
	static const struct {
		const char *name;
		enum bb_frame_kind kind;
	} want[] = {
		{"comm_[k]", BB_FRAME_COMM}, {BB_NOTE_CUT, BB_FRAME_NOTE},
		{"f", BB_FRAME_USER},        {"g", BB_FRAME_INLINED},
		{"h", BB_FRAME_JIT},         {"_[k]", BB_FRAME_USER},
		{"k", BB_FRAME_KERNEL},      {BB_NOTE_OFF_CPU, BB_FRAME_OFF_CPU},
	};
	struct bb_stacks s = read_ok("comm_[k];" BB_NOTE_CUT ";f;g_[i];h_[j];_[k];k_[k]"
				     ";" BB_NOTE_OFF_CPU " 7\n");

	(void)state;
	assert_int_equal(s.n, 1);
	assert_int_equal(s.v[0].n, sizeof(want) / sizeof(want[0]));
	for (uint32_t i = 0; i < s.v[0].n; i++) {
		uint32_t frame = s.parts[s.v[0].first + i];

		assert_string_equal(bb_stacks__name(&s, frame), want[i].name);
		assert_int_equal(s.frames[frame].kind, want[i].kind);
	}
	bb_stacks__done(&s);
}

static void assert_refused(const char *text, size_t len, int code, const char *why)
{
	struct bb_stacks s;
	struct bb_err err = {0};

	assert_int_equal(read_bytes(text, len, &s, &err), code);
	if (!strstr(err.msg, why))
		fail_msg("'%s' is not in '%s'", why, err.msg);
}

static void refused(void **state)
{
	static const char *const texts[] = {
		"a;b 1\na;b\n",
		"a;b 1\n 2\n",
		"a;b 1\na;b x\n",
		"a;b 1\na;b 1.5\n",
		"a;b 1\na;b -1\n",
		"a;b 1\na;b \n",
		"a;b 1\na;b 99999999999999999999\n",
	};
	char deep[2 * BB_FOLDED_FRAMES + 8];
	struct bb_err err = {0};
	struct bb_stacks s;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_refused(texts[i], strlen(texts[i]), -EINVAL,
			       "a.folded:2: not folded stacks");
	assert_refused("a;b 1\na\0b 2\n", 13, -EINVAL, "NUL");
	assert_refused("a 9007199254740992\nb 1\n", 23, -EFBIG, "a.folded:2: the weights add up");
	memset(deep, ';', sizeof(deep));
	memcpy(deep + BB_FOLDED_FRAMES, " 1\n", 4);
	assert_refused(deep, strlen(deep), -EINVAL,
		       "a.folded:1: not folded stacks: a stack of too many frames");
	memcpy(deep + BB_FOLDED_FRAMES - 1, " 1\n", 4);
	s = read_ok(deep);
	assert_int_equal(s.v[0].n, BB_FOLDED_FRAMES);
	bb_stacks__done(&s);
	assert_int_equal(bb_folded__read(in_folder("nosuch"), &s, &err), -ENOENT);
}

static void empty(void **state)
{
	struct bb_stacks s = read_ok("");

	(void)state;
	assert_int_equal(s.n, 0);
	assert_int_equal(s.total, 0);
	bb_stacks__done(&s);
}

#define N_HARD 300u

/* An order in which each pivot of a quicksort that takes the middle one is the least of all: it
 * would go 300 deep, and much deeper with more stacks. */
static void hard_order(void **state)
{
	unsigned int order[N_HARD], name_of[N_HARD], names = 0;
	char text[N_HARD * 8], expected[N_HARD * 8], *at = text, *sorted;
	struct bb_stacks s;

	(void)state;
	for (unsigned int i = 0; i < N_HARD; i++)
		order[i] = i;
	for (unsigned int n = N_HARD; n; n--) { /* all others move as in the sort */
		unsigned int pivot = order[n / 2], i = 0, greater = n, swapped;

		name_of[pivot] = names++;
		while (i < greater) {
			swapped = order[i];
			if (swapped == pivot) {
				i++;
				continue;
			}
			order[i] = order[--greater];
			order[greater] = swapped;
		}
		memmove(order, order + 1, (n - 1) * sizeof(*order));
	}
	for (unsigned int i = 0; i < N_HARD; i++)
		at += sprintf(at, "f%03u 1\n", name_of[i]);
	at = expected;
	for (unsigned int i = 0; i < N_HARD; i++)
		at += sprintf(at, "f%03u 1\n", i);
	s = read_ok(text);
	sorted = written(&s);
	assert_string_equal(sorted, expected);
	free(sorted);
	bb_stacks__done(&s);
}

/* Random bytes are either refused or can be drawn, without a crash or an error of AddressSanitizer
 * or UBSan. */
static void garbage(void **state)
{
	static const char alphabet[] = "ab;;_[k] 019\n\n\r\xff<&\x01";
	size_t readable = 0, refusals = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 11);
	for (int round = 0; round < 3000; round++) {
		char text[64], *svg = NULL;
		size_t len = bb_rng_below(&rng, sizeof(text)), size;
		struct bb_stacks s;
		FILE *out;

		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[bb_rng_below(&rng, sizeof(alphabet) - 1)];
		if (read_bytes(text, len, &s, NULL)) {
			refusals++;
			continue;
		}
		readable++;
		out = open_memstream(&svg, &size);
		assert_non_null(out);
		bb_flame__write_html(&s, &(struct bb_flame_opts){.title = "t", .unit = "samples"},
				     out);
		fclose(out);
		assert_null(strstr(svg, "<&"));
		free(svg);
		bb_stacks__done(&s);
	}
	assert_true(readable > 50 && refusals > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order),  cmocka_unit_test(kinds),
		cmocka_unit_test(refused),    cmocka_unit_test(empty),
		cmocka_unit_test(hard_order), cmocka_unit_test(garbage),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
