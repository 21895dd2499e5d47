/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "unit/export/document_testing.h"
#include "unit/export_testing.h"

static void as_narrow_text(const struct bb_doc *d, FILE *out)
{
	bb_doc__text(d, &(struct bb_doc_look){.width = 60, .wrap = true}, out);
}

static void as_coloured_text(const struct bb_doc *d, FILE *out)
{
	bb_doc__text(d, &(struct bb_doc_look){.width = 60, .wrap = true, .colour = true}, out);
}

/* Makes a table of two programs, with a note. */
static struct bb_doc make_document(bool with_more)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("program")},
		{BB_NUMBER("net")},
		{BB_NUMBER("empty")},
		{BB_VERDICT("verdict")},
		{BB_NUMBER("more"), .doc = "what the test adds"},
	};
	size_t n = sizeof(columns) / sizeof(columns[0]) - !with_more;
	struct bb_doc d = {0};

	bb_doc__add(&d, BB_DOC_TITLE, NULL, "step");
	bb_doc__table(&d, columns, n);
	for (int i = 0; i < 2; i++) {
		bb_doc__text_cell(&d, i ? "b|<b>" : "a");
		bb_doc__number_cell(&d, i ? NAN : 15.8, 100);
		bb_doc__text_cell(&d, NULL);
		bb_doc__text_cell(&d, i ? "same" : "regressed");
		if (with_more)
			bb_doc__number_cell(&d, 7 + i, BB_WHOLE);
	}
	bb_doc__add(&d, BB_DOC_ITEM, "void", "a: %s",
		    "2 of 8 series, as another process has "
		    "switched bpf_stats on");
	bb_doc__add(&d, BB_DOC_LEGEND, NULL, "%s", "");
	return d;
}

static void check(bool with_more, void (*render)(const struct bb_doc *d, FILE *out),
		  const char *expected)
{
	struct bb_doc d = make_document(with_more);
	char *text = rendered(&d, render);

	assert_string_equal(text, expected);
	free(text);
}

/* A new column needs one row in the list of columns and one cell, and appears in all three formats.
 * An empty column appears in none. */
static void test_column_in_all(void **state)
{
	(void)state;
	check(false, as_text,
	      "step\n"
	      "  program   net  verdict\n"
	      "  a        15.8  regressed\n"
	      "  b|<b>       -  same\n"
	      "  void: a: 2 of 8 series, as another process has switched bpf_stats on\n");
	check(true, as_text,
	      "step\n"
	      "  program   net  verdict    more\n"
	      "  a        15.8  regressed     7\n"
	      "  b|<b>       -  same          8\n"
	      "  void: a: 2 of 8 series, as another process has switched bpf_stats on\n"
	      "  more                   what the test adds\n");
	check(true, bb_doc__markdown,
	      "### step\n\n"
	      "| program | net | verdict | more |\n"
	      "|---|--:|---|--:|\n"
	      "| a | 15.8 | **regressed** | 7 |\n"
	      "| b\\|\\<b\\> | - | same | 8 |\n\n"
	      "- **void**: a: 2 of 8 series, as another process has switched bpf\\_stats on\n");
	check(true, bb_doc__html,
	      "<h3>step</h3>\n"
	      "<div class=scroll tabindex=0><table><thead><tr><th class=text>program<th>net"
	      "<th class=text>verdict<th title='what the test adds'>more</tr></thead>\n"
	      "<tr><td class=text>a</td><td>15.8</td><td class='text verdict regressed'>regressed"
	      "</td><td>7</td></tr>\n"
	      "<tr><td class=text>b|&lt;b&gt;</td><td>–</td><td class='text verdict same'>same</td>"
	      "<td>8</td></tr>\n"
	      "</table></div>\n"
	      "<p class=item><b>void</b>: a: 2 of 8 series, as another process has switched "
	      "bpf_stats on</p>\n");
}

/* If a page's table is too wide, it becomes two tables. The second has the columns that the text
 * format also shows below. */
static void test_wide_page(void **state)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("program")},
		{BB_NUMBER("net")},
		{BB_NUMBER("layout"), .spill = BB_DOC_BELOW},
	};
	static const char long_text[] = "from 1234 ns to 2345 ns, measured in 3 places, which are "
					"the only ones that the "
					"machine chose in its 28 loads, and far too many words for "
					"a cell of a table";
	struct bb_doc d = {0};
	char *page;

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		bb_doc__table(&d, columns, 3);
		bb_doc__text_cell(&d, "a");
		bb_doc__text_cell(&d, "15.8");
		bb_doc__text_cell(&d, wide ? long_text : "in 3 places");
		page = rendered(&d, bb_doc__html);
		assert_has(page, wide ? "<th class=text>program<th>net</tr>"
				      : "<th class=text>program<th>net<th>layout</tr>");
		if (wide)
			assert_has(page, "<th class=text>program<th>layout</tr>");
		free(page);
		bb_doc__done(&d);
	}
}

/* A note that does not fit its row is wrapped below it. A row without a note has no such line. */
static void test_note_below_row(void **state)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("program")},
		{BB_NUMBER("median-of-cold")},
		{BB_NUMBER("median-of-warm")},
		{BB_NUMBER("median-of-idle")},
		{BB_TEXT("note")},
	};
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc__table(&d, columns, sizeof(columns) / sizeof(columns[0]));
	for (int i = 0; i < 2; i++) {
		bb_doc__text_cell(&d, i ? "b" : "a");
		for (int k = 1; k < 4; k++)
			bb_doc__number_cell(&d, k, BB_WHOLE);
		bb_doc__text_cell(&d, i ? NULL
					: "the address of the code moves the figure, and no run of "
					  "it was hot");
	}
	text = rendered(&d, as_narrow_text);
	assert_string_equal(text, "  median-of-cold  median-of-warm  median-of-idle\n"
				  "a\n"
				  "               1               2               3\n"
				  "    the address of the code moves the figure, and no run of\n"
				  "    it was hot\n"
				  "b\n"
				  "               1               2               3\n");
	free(text);
}

/* Every column of the short table of a run is also in Markdown, in the details and on the page. */
static void test_columns_of_a_run(void **state)
{
	static const char *const formats[] = {"markdown", "html", "details"};
	struct bb_report *r = make_sample_report();
	char *table = export_ok("table", r), head[64];
	size_t n = 0;

	(void)state;
	for (size_t k = 0; k < bb_n_case_columns; k++) {
		const char *name = bb_case_columns[k].as.head;

		snprintf(head, sizeof(head), " %s  ", name); /* a head, not a word of a sentence */
		if (!(bb_case_columns[k].in & BB_SHORT) || !strstr(table, head))
			continue;
		n++;
		for (size_t i = 0; i < 3; i++) {
			char *text;

			if (!(bb_case_columns[k].in & BB_DETAILS) && i)
				continue;
			text = export_ok(formats[i], r);
			snprintf(head, sizeof(head), "%s%s", i == 1 ? ">" : " ", name);
			assert_has(text, head);
			free(text);
		}
	}
	assert_true(n >= 5);
	free(table);
	bb_report__free(r);
}

/* Paragraphs are wrapped at the width. In a table that is too wide, the first column has a line of
 * its own. */
static void test_narrow(void **state)
{
	static const struct bb_doc_column columns[] = {
		{BB_TEXT("Case")},
		{BB_NUMBER("A")},
		{BB_NUMBER("B")},
		{BB_TEXT("Note")},
	};
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc__table(&d, columns, 4);
	bb_doc__text_cell(&d, "a/case/with/a/name/of/so/many/parts/that/it/is/long");
	bb_doc__number_cell(&d, 100, 100);
	bb_doc__number_cell(&d, 112, 100);
	bb_doc__text_cell(&d, "pairs: 7 matched, 7 unmatched; --budget 60 should decide this one");
	text = rendered(&d, as_narrow_text);
	assert_string_equal(text, "      A      B  Note\n"
				  "a/case/with/a/name/of/so/many/parts/that/it/is/long\n"
				  "  100.0  112.0  pairs: 7 matched, 7 unmatched;\n"
				  "                --budget 60 should decide this one\n");
	free(text);
	check(false, as_narrow_text,
	      "step\n"
	      "  program   net  verdict\n"
	      "  a        15.8  regressed\n"
	      "  b|<b>       -  same\n"
	      "  void: a: 2 of 8 series, as another process has switched\n"
	      "    bpf_stats on\n");
}

static void test_colours(void **state)
{
	struct bb_doc d = make_document(false);
	char *text = rendered(&d, as_coloured_text);

	(void)state;
	assert_has(text, "\033[31mregressed\033[0m");
	assert_has(text, "same\n");
	free(text);
	d = make_document(false);
	text = rendered(&d, as_narrow_text);
	assert_null(strchr(text, '\033'));
	free(text);
}

/* Skips with the same cause share one line with the first example. Their numbers may differ. */
static void test_notes_by_cause(void **state)
{
	struct bb_report *r = make_sample_report();
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_report__add_skip(r, "a/slope", "took 3 s of 5");
	bb_report__add_skip(r, "b/slope", "took 44 s of 5");
	bb_report__add_skip(r, "c/slope", "took 4.5 s of 5");
	bb_report__add_skip(r, "d/slope", "took 4 s or 5");
	bb_doc_notes(r, BB_SHORT, &d);
	text = rendered(&d, as_text);
	assert_has(text, "  skipped: a/slope: took 3 s of 5 (and 2 more like it)\n");
	assert_has(text, "  skipped: d/slope: took 4 s or 5\n");
	assert_lacks(text, "b/slope");
	free(text);
	bb_doc_notes(r, BB_DETAILS, &d);
	text = rendered(&d, as_text);
	assert_has(text, "b/slope");
	free(text);
	bb_report__free(r);
}

/* A command longer than a line is broken between two words, with a backslash as in a shell. A
 * shorter command is not broken. */
static void test_commands_can_be_copied(void **state)
{
	static const char line[] = "bpfbench overhead --agent 'trace of everything that opens "
				   "files' "
				   "--budget 12 -o file -- find /";
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc__again(&d, BB_DOC_FAINT, "next", line, "--budget 300", "for a verdict");
	bb_doc__again(&d, BB_DOC_FAINT, "next", "bpfbench run -- x --budget 1", "--budget 300",
		      NULL);
	bb_doc__again(&d, BB_DOC_FAINT, "next", "bpfbench run; reboot", "--lines", NULL);
	bb_doc__again(&d, BB_DOC_FAINT, "next", "bpfbench run --vm 6.12 --lines=1", "--lines",
		      NULL);
	/* a word with blanks is not broken, even if it is longer than a line */
	bb_doc__add(&d, BB_DOC_FAINT, "next",
		    "`bpfbench inside -- bpftrace -e 'tracepoint:syscalls:sys_enter_read { @[comm] "
		    "= count(); }'`, then more");
	text = rendered(&d, as_narrow_text);
	assert_string_equal(text, "next: `sudo bpfbench overhead --budget 300 \\\n"
				  "  --agent 'trace of everything that opens files' -o file \\\n"
				  "  -- find /` (for a verdict)\n"
				  "next: `sudo bpfbench run --budget 300 -- x --budget 1`\n"
				  "next: the same with `--lines`\n"
				  "next: `bpfbench run --lines --vm 6.12`\n"
				  "next: `bpfbench inside -- bpftrace \\\n"
				  "  -e 'tracepoint:syscalls:sys_enter_read { @[comm] = count(); "
				  "}'`,\n"
				  "  then more\n");
	free(text);
}

/* bb_command_without() removes an option with its value, wherever it stands before "--". */
static void test_command_without(void **state)
{
	char *const argv[] = {"bpfbench run", "-o=a b",  "--results=my dir",
			      "--a b=c",      "--base=", NULL};
	char *line;
	char *command = bb_command_without("bpfbench compare --drive step a.o b.o --drive=hook "
					   "--drives --time",
					   "--drive NAME");

	(void)state;
	assert_string_equal(command, "bpfbench compare a.o b.o --drives --time");
	free(command);
	command = bb_command_without("bpfbench compare a.o b.o --time", "--time");
	assert_string_equal(command, "bpfbench compare a.o b.o");
	free(command);
	assert_null(bb_command_without("bpfbench compare a.o; reboot", "--time"));
	command = bb_command_value("bpfbench compare --base=a --base 'b c' -- --base d", "--base");
	assert_string_equal(command, "'b c'");
	free(command);
	assert_null(bb_command_value("bpfbench compare a.o --bases d --base", "--base"));
	assert_null(bb_command_value("bpfbench compare --base d; reboot", "--base"));
	command = bb_command_option("bpfbench run --results=/r", "--results");
	assert_string_equal(command, " --results /r");
	free(command);
	line = bb_command_line(argv);
	assert_string_equal(line, "bpfbench run '-o=a b' --results='my dir' '--a b=c' --base=");
	command = bb_command_option(line, "--results");
	assert_string_equal(command, " --results 'my dir'");
	free(command);
	command = bb_command_without(line, "--results DIR");
	assert_string_equal(command, "bpfbench run '-o=a b' '--a b=c' --base=");
	free(command);
	free(line);
}

/* A path longer than a line may be broken behind a slash. */
static void test_long_path(void **state)
{
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc__add(&d, BB_DOC_PARAGRAPH, "source", "%s",
		    "/home/somebody/a-long-folder/another-folder/of-the-project/bpf/prog.bpf.c");
	text = rendered(&d, as_narrow_text);
	assert_string_equal(text, "source:\n"
				  "  /home/somebody/a-long-folder/another-folder/\n"
				  "  of-the-project/bpf/prog.bpf.c\n");
	free(text);
	assert_string_equal(bb_path_cell("/usr/src/prog.bpf.c").text, "/usr/src/prog.bpf.c");
	assert_string_equal(bb_path_cell("/home/somebody/a-long-folder/another-folder/bpf/"
					 "prog.bpf.c")
				    .text,
			    "…/a-long-folder/another-folder/bpf/prog.bpf.c");
}

/* On a page, text in backquotes is code. A single backquote stays a backquote. */
static void test_html_code(void **state)
{
	struct bb_doc d = {0};
	char *text;

	(void)state;
	bb_doc__add(&d, BB_DOC_ITEM, NULL, "%s", "`show <b>` says, `annotate` too; a ` alone");
	text = rendered(&d, bb_doc__html);
	assert_string_equal(text, "<p class=item><code>show &lt;b&gt;</code> says, "
				  "<code>annotate</code> too; a ` alone</p>\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html_code),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_commands_can_be_copied),
		cmocka_unit_test(test_command_without),
		cmocka_unit_test(test_wide_page),
		cmocka_unit_test(test_column_in_all),
		cmocka_unit_test(test_note_below_row),
		cmocka_unit_test(test_columns_of_a_run),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_colours),
		cmocka_unit_test(test_notes_by_cause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
