/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks and their flame graph: it is well-formed XML with any names, and its size is
 * bounded. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/text.h"
#include "profile/stacks.h"
#include "unit/folder_testing.h"

/* Adds a frame and returns its number. */
static uint32_t frame(struct bb_stacks *s, const char *name, enum bb_frame_kind kind)
{
	struct bb_frame f = {.file = BB_NO_ID, .kind = kind};

	f.name = bb_names__add(&s->names, name, strlen(name));
	BB_PUSH(s->frames, s->n_frames, f);
	return (uint32_t)s->n_frames - 1;
}

static void add(struct bb_stacks *s, const uint32_t *frames, uint32_t n, double weight)
{
	bb_stacks__add(s, frames, n, weight);
}

static char *folded(const struct bb_stacks *s)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	bb_stacks__write_folded(s, out);
	fclose(out);
	return text;
}

static char *flame(const struct bb_stacks *s, const char *title, size_t *ret_len)
{
	const struct bb_flame_opts opts = {.title = title, .unit = "samples"};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	assert_non_null(out);
	bb_flame__write(s, &opts, out);
	fclose(out);
	return text;
}

static size_t count(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

static void folding(void **state)
{
	struct bb_stacks s = {0};
	uint32_t comm = frame(&s, "a;b\n", BB_FRAME_COMM),
		 in_main = frame(&s, "main", BB_FRAME_USER);
	uint32_t f = frame(&s, "f", BB_FRAME_INLINED), in_read = frame(&s, "read", BB_FRAME_KERNEL);
	uint32_t jitted = frame(&s, "jitted", BB_FRAME_JIT),
		 other = frame(&s, "main", BB_FRAME_INLINED);
	char *text;

	(void)state;
	add(&s, (uint32_t[]){comm, in_main, jitted}, 3, 1);
	add(&s, (uint32_t[]){comm, in_main}, 2, 1.75);
	add(&s, (uint32_t[]){comm, in_main, in_read}, 3, 5);
	add(&s, (uint32_t[]){comm, other}, 2, 0.4); /* less than 0.5: not written */
	add(&s, (uint32_t[]){comm, in_main, f}, 3, 1.5);
	add(&s, (uint32_t[]){comm, in_main}, 2, 1.5);
	bb_stacks__sort(&s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.total, 11);
	assert_int_equal(s.v[0].shared, 0);
	assert_int_equal(s.v[1].shared, 2);
	text = folded(&s);
	assert_string_equal(text, "a:b?;main 3\na:b?;main;f_[i] 2\na:b?;main;jitted_[j] "
				  "1\na:b?;main;read_[k] 5\n");
	free(text);
	bb_stacks__done(&s);
}

/* Sorts random stacks of few different frames, many of them equal or with a common beginning. The
 * order is checked frame by frame. */
static void sorting(void **state)
{
	enum { N_STACKS = 3000, MAX_DEPTH = 12 };
	struct bb_stacks s = {0};
	double total = 0, sum = 0;
	struct bb_rng rng;

	(void)state;
	bb_rng_seed(&rng, 3);
	for (const char *const *name = (const char *const[]){"a", "b", "c", "d", NULL}; *name;
	     name++)
		frame(&s, *name, BB_FRAME_USER);
	for (int i = 0; i < N_STACKS; i++) {
		uint32_t frames[MAX_DEPTH], n = 1 + (uint32_t)bb_rng_below(&rng, MAX_DEPTH);
		double weight = 1 + (double)bb_rng_below(&rng, 9);

		for (uint32_t k = 0; k < n; k++)
			frames[k] = (uint32_t)bb_rng_below(&rng, k < 3 ? 2 : 4);
		add(&s, frames, n, weight);
		total += weight;
	}
	bb_stacks__sort(&s);
	assert_in_range(s.n, 100, N_STACKS - 100);
	for (size_t i = 0; i < s.n; i++) {
		const struct bb_stack *a = &s.v[i ? i - 1 : 0], *b = &s.v[i];
		uint32_t k = 0;

		sum += b->weight;
		while (i && k < a->n && k < b->n && s.parts[a->first + k] == s.parts[b->first + k])
			k++;
		assert_int_equal(b->shared, k);
		assert_in_range(b->n, k + 1, MAX_DEPTH); /* equal stacks were merged */
		assert_true(!i || k == a->n || s.parts[a->first + k] < s.parts[b->first + k]);
	}
	assert_true(sum == total && s.total == (uint64_t)total);
	bb_stacks__done(&s);
}

static char *escaped(const char *text, size_t max)
{
	char *result = NULL;
	size_t len;
	FILE *out = open_memstream(&result, &len);

	bb_xml_text_cut(out, text, max);
	fclose(out);
	return result;
}

static void escaping(void **state)
{
	static const struct {
		const char *text, *xml;
	} cases[] = {
		{"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
		{"]]>", "]]&gt;"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\x01\x1b[31m", "\xef\xbf\xbd\xef\xbf\xbd[31m"},
		{"\xff", "\xef\xbf\xbd"},                 /* not UTF-8 */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"}, /* '/' encoded in two bytes */
		{"\xc3", "\xef\xbf\xbd"},                 /* cut off */
		/* Half of a surrogate pair. */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		/* U+FFFE is not allowed in XML. */
		{"\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5"},
		/* Beyond Unicode. */
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *xml = escaped(cases[i].text, SIZE_MAX);

		assert_string_equal(xml, cases[i].xml);
		free(xml);
	}
	{
		char *xml = escaped("\xc3\xbc<\xc3\xbc", 2);

		assert_string_equal(xml, "\xc3\xbc&lt;");
		free(xml);
	}
	assert_int_equal(bb_xml_length("\xc3\xbc<\xc3\xbc"), 3);
}

/* Checks that the text is XML, with xmllint; skips the test without it. */
static void assert_well_formed(const char *svg, size_t len)
{
	char command[PATH_MAX + 64];
	FILE *out;

	if (system("command -v xmllint >/dev/null")) {
		print_message("# skip: no xmllint here\n");
		skip();
	}
	out = fopen(in_folder("a.svg"), "w");
	assert_non_null(out);
	assert_int_equal(fwrite(svg, 1, len, out), len);
	fclose(out);
	snprintf(command, sizeof(command), "xmllint --noout --huge '%s'", in_folder("a.svg"));
	assert_int_equal(system(command), 0);
}

/* Frames with names of random bytes. Each stack is another stack, or the root, with one more
 * frame. */
static void well_formed(void **state)
{
	enum { N_STACKS = 300 };
	uint32_t paths[N_STACKS][N_STACKS], depths[N_STACKS];
	struct bb_stacks s = {0};
	struct bb_rng rng;
	size_t len;
	char *svg;

	(void)state;
	bb_rng_seed(&rng, 5);
	for (uint32_t i = 0; i < N_STACKS; i++) {
		uint32_t on = (uint32_t)bb_rng_below(&rng, i + 1);
		char name[12];

		for (size_t c = 0; c < sizeof(name) - 1; c++)
			name[c] = (char)(1 + bb_rng_below(&rng, 255));
		name[sizeof(name) - 1] = '\0';
		depths[i] = on ? depths[on - 1] : 0;
		memcpy(paths[i], paths[on ? on - 1 : 0], depths[i] * sizeof(paths[i][0]));
		paths[i][depths[i]++] =
			frame(&s, i ? name : "]]></script><x a='",
			      (enum bb_frame_kind)bb_rng_below(&rng, BB_N_FRAME_KINDS));
		add(&s, paths[i], depths[i], 1 + (double)bb_rng_below(&rng, 5));
	}
	bb_stacks__sort(&s);
	svg = flame(&s, "<title> & \xff", &len);
	/* One for the root, 5 for the legend. */
	assert_int_equal(count(svg, "<rect class="), N_STACKS + 1 + 5);
	assert_well_formed(svg, len);
	free(svg);
	bb_stacks__done(&s);
}

static void nothing(void **state)
{
	struct bb_stacks s = {0};
	size_t len;
	char *svg;

	(void)state;
	bb_stacks__sort(&s);
	svg = flame(&s, "a < b", &len);
	assert_non_null(strstr(svg, "Nothing was sampled"));
	assert_well_formed(svg, len);
	free(svg);
	bb_stacks__done(&s);
}

/* 1 sample of 100 000 is 0.0118 px wide, too narrow to be drawn. 10 samples are drawn. */
static void narrow(void **state)
{
	static const struct {
		const char *name;
		double weight;
	} widths[] = {{"wide", 99989}, {"ten", 10}, {"one", 1}};
	struct bb_stacks s = {0};
	size_t len;
	char *svg;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		add(&s, (uint32_t[]){frame(&s, widths[i].name, BB_FRAME_USER)}, 1,
		    widths[i].weight);
	bb_stacks__sort(&s);
	svg = flame(&s, "t", &len);
	assert_non_null(strstr(svg, "<title>wide\n99989 samples, 99.99 %</title>"));
	assert_non_null(strstr(svg, "<title>ten\n"));
	assert_null(strstr(svg, "<title>one\n"));
	assert_non_null(strstr(svg, "narrower than 0.1 px are left out"));
	free(svg);
	bb_stacks__done(&s);
}

/*
 * 100 000 distinct stacks; at the first four depths each frame has ten children. All frames further
 * out, 250 000 of them, are 0.12 px wide. As many of them are drawn as there is room for.
 */
static void large(void **state)
{
	enum { DEPTH = 30, N_STACKS = 100000 };
	uint32_t frames[DEPTH][10];
	struct bb_stacks s = {0};
	size_t len;
	char *svg;

	(void)state;
	for (unsigned int depth = 0; depth < DEPTH; depth++)
		for (unsigned int digit = 0; digit < 10; digit++) {
			char name[48];

			snprintf(name, sizeof(name), "function_%u<%u>", depth, digit);
			frames[depth][digit] = frame(&s, name, BB_FRAME_USER);
		}
	for (unsigned int stack = 0; stack < N_STACKS; stack++) {
		unsigned int digits[DEPTH] = {stack / 10000, stack / 1000 % 10, stack / 100 % 10,
					      stack / 10 % 10};
		uint32_t path[DEPTH];

		digits[DEPTH - 1] = stack % 10;
		for (unsigned int depth = 0; depth < DEPTH; depth++)
			path[depth] = frames[depth][digits[depth]];
		add(&s, path, DEPTH, 1);
	}
	bb_stacks__sort(&s);
	assert_int_equal(s.n, N_STACKS);
	svg = flame(&s, "large", &len);
	assert_in_range(len, 1900000, 2000000);
	/* The first depths are complete. */
	assert_in_range(count(svg, "<rect class="), 11111, 20000);
	assert_non_null(strstr(svg, "frames narrower than 0.12 px, and some as wide, are left "
				    "out"));
	assert_well_formed(svg, len);
	free(svg);
	bb_stacks__done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folding),  cmocka_unit_test(sorting),
		cmocka_unit_test(escaping), cmocka_unit_test(well_formed),
		cmocka_unit_test(nothing),  cmocka_unit_test(narrow),
		cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
