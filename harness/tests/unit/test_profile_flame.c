/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks, and the flame graph of them: well-formed whatever the names are, and of a bounded size. */
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
#include "profile/flame.h"
#include "unit/folder_testing.h"

static uint32_t child(struct bb_tree *t, uint32_t parent, const char *name, enum bb_frame_kind kind)
{
	uint32_t id, node;

	assert_int_equal(bb_names__add(&t->names, name, strlen(name), &id), 0);
	assert_int_equal(bb_tree__next_child(t, parent, id, kind, BB_NO_ID, &node), 0);
	return node;
}

static char *folded(const struct bb_tree *t)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(bb_tree__write_folded(t, out), 0);
	fclose(out);
	return text;
}

static char *flame(const struct bb_tree *t, const char *title, size_t *ret_len)
{
	const struct bb_flame_opts opts = {.title = title, .unit = "samples"};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);

	assert_non_null(out);
	assert_int_equal(bb_flame__write(t, &opts, out), 0);
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
	struct bb_tree t;
	uint32_t comm, main_node, again;
	char *text;

	(void)state;
	assert_int_equal(bb_tree__init(&t), 0);
	comm = child(&t, 0, "a;b\n", BB_FRAME_COMM);
	main_node = child(&t, comm, "main", BB_FRAME_USER);
	t.nodes[main_node].self += 3;
	again = child(&t, comm, "main", BB_FRAME_USER);
	assert_int_equal(again, main_node);
	assert_int_not_equal(child(&t, comm, "main", BB_FRAME_INLINED), main_node);	/* without weight: not written */
	t.nodes[child(&t, main_node, "f", BB_FRAME_INLINED)].self += 2;
	t.nodes[child(&t, main_node, "read", BB_FRAME_KERNEL)].self += 5;
	t.nodes[child(&t, main_node, "jitted", BB_FRAME_JIT)].self += 1;
	bb_tree__sum(&t);
	assert_int_equal(t.nodes[0].total, 11);
	assert_int_equal(t.nodes[main_node].total, 11);
	text = folded(&t);
	assert_string_equal(text, "a:b?;main 3\na:b?;main;f_[i] 2\na:b?;main;read_[k] 5\na:b?;main;jitted_[j] 1\n");
	free(text);
	bb_tree__done(&t);
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
	static const struct { const char *text, *xml; } cases[] = {
		{"a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"},
		{"]]>", "]]&gt;"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\x01\x1b[31m", "\xef\xbf\xbd\xef\xbf\xbd[31m"},
		{"\xff", "\xef\xbf\xbd"},				/* no UTF-8 */
		{"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},		/* '/' in two bytes */
		{"\xc3", "\xef\xbf\xbd"},				/* cut off */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},	/* half of a surrogate pair */
		{"\xef\xbf\xbe", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},	/* U+FFFE is no XML */
		{"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5"},
		{"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},	/* beyond Unicode */
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

/* Is it XML? By xmllint, where there is one. */
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

/* Names of any bytes. */
static void well_formed(void **state)
{
	struct bb_tree t;
	struct bb_rng rng;
	uint32_t node;
	size_t len;
	char *svg;

	(void)state;
	bb_rng_seed(&rng, 5);
	assert_int_equal(bb_tree__init(&t), 0);
	for (int i = 0; i < 300; i++) {
		char name[12];

		for (size_t c = 0; c < sizeof(name) - 1; c++)
			name[c] = (char)(1 + bb_rng_below(&rng, 255));
		name[sizeof(name) - 1] = '\0';
		node = child(&t, (uint32_t)bb_rng_below(&rng, t.n), name, (enum bb_frame_kind)bb_rng_below(&rng, BB_N_FRAME_KINDS));
		t.nodes[node].self += 1 + bb_rng_below(&rng, 5);
	}
	t.nodes[child(&t, 0, "]]></script><x a='", BB_FRAME_USER)].self = 100;
	bb_tree__sum(&t);
	svg = flame(&t, "<title> & \xff", &len);
	assert_int_equal(count(svg, "<rect class="), t.n + 5);	/* and the legend's */
	assert_well_formed(svg, len);
	free(svg);
	bb_tree__done(&t);
}

static void nothing(void **state)
{
	struct bb_tree t;
	size_t len;
	char *svg;

	(void)state;
	assert_int_equal(bb_tree__init(&t), 0);
	bb_tree__sum(&t);
	svg = flame(&t, "a < b", &len);
	assert_non_null(strstr(svg, "Nothing was sampled"));
	assert_well_formed(svg, len);
	free(svg);
	bb_tree__done(&t);
}

/* 1 of 100 000 is 0.0118 px: too narrow. 10 of them are not. */
static void narrow(void **state)
{
	struct bb_tree t;
	size_t len;
	char *svg;

	(void)state;
	assert_int_equal(bb_tree__init(&t), 0);
	t.nodes[child(&t, 0, "wide", BB_FRAME_USER)].self = 99989;
	t.nodes[child(&t, 0, "ten", BB_FRAME_USER)].self = 10;
	t.nodes[child(&t, 0, "one", BB_FRAME_USER)].self = 1;
	bb_tree__sum(&t);
	svg = flame(&t, "t", &len);
	assert_non_null(strstr(svg, "<title>wide\n99989 samples, 99.99 %</title>"));
	assert_non_null(strstr(svg, "<title>ten\n"));
	assert_null(strstr(svg, "<title>one\n"));
	assert_non_null(strstr(svg, "narrower than 0.1 px are left out"));
	free(svg);
	bb_tree__done(&t);
}

/* 100 000 distinct stacks, ten children to a node at the first five levels: every level is full of frames of 0.1 px. */
static void large(void **state)
{
	uint32_t path[31] = {0};
	struct bb_tree t;
	size_t len;
	char *svg;

	(void)state;
	assert_int_equal(bb_tree__init(&t), 0);
	for (unsigned int stack = 0; stack < 100000; stack++) {
		unsigned int digits[30] = {stack / 10000, stack / 1000 % 10, stack / 100 % 10, stack / 10 % 10};

		digits[29] = stack;
		for (unsigned int depth = 0; depth < 30; depth++) {
			char name[48];

			snprintf(name, sizeof(name), "function_%u_%u", depth, digits[depth]);
			path[depth + 1] = child(&t, path[depth], name, BB_FRAME_USER);
		}
		t.nodes[path[30]].self++;
	}
	bb_tree__sum(&t);
	assert_int_equal(t.nodes[0].total, 100000);
	svg = flame(&t, "large", &len);
	assert_in_range(len, 1, 2000000);
	assert_in_range(count(svg, "<rect class="), 1111, 20000);	/* the first levels in full */
	assert_well_formed(svg, len);
	free(svg);
	bb_tree__done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folding), cmocka_unit_test(escaping), cmocka_unit_test(well_formed), cmocka_unit_test(nothing),
		cmocka_unit_test(narrow), cmocka_unit_test(large),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
