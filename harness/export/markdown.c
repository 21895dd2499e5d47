/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/markdown.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "export/in_vain_notes.h"
#include "export/table_cells.h"

/* A space of no width. Where text is put together with others' pages, it is what keeps "@" from
 * calling a user: they look for names in the text that Markdown makes, where no backslash is left.
 */
#define APART "&#8203;"
#define MARKUP "|\\`*_<>[]#&~$"

/* 7 to 40 hexadecimal digits that begin a word and are all of it. */
static bool is_commit(const char *word)
{
	size_t n = strspn(word, "0123456789abcdefABCDEF");

	return n >= 7 && n <= 40 && !isalnum((unsigned char)word[n]) && word[n] != '_';
}

/* Would the first character of `at` begin a mention, a reference or a link? */
static bool is_live(const char *at, bool begins_word)
{
	return at[0] == '@' || !strncmp(at, "://", 3) || !strncasecmp(at, "www.", 4) ||
	       (strchr("#!$%&~", at[0]) && isdigit((unsigned char)at[1])) ||
	       (begins_word && (is_commit(at) || !strncasecmp(at, "gh-", 3)));
}

void bb_md_text(const char *text, FILE *mem)
{
	bool begins_word = true;

	for (; text && *text; text++) {
		if (strchr(MARKUP, *text))
			putc('\\', mem);
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, mem);
		if (is_live(text, begins_word))
			fputs(APART, mem);
		/* a run's id stays whole: ...-1a2b3c4d */
		begins_word = !isalnum((unsigned char)*text) && !strchr("_-", *text);
	}
}

void bb_md_plain(const char *markdown, FILE *out)
{
	while (*markdown) {
		if (!strncmp(markdown, APART, strlen(APART))) {
			markdown += strlen(APART);
			continue;
		}
		if (markdown[0] == '\\' && markdown[1] && strchr(MARKUP, markdown[1]))
			markdown++;
		putc(*markdown++, out);
	}
}

void bb_md_number(double value, double scale, FILE *mem)
{
	struct bb_table_cell cell = bb_table_cell_number(value, scale);

	fprintf(mem, " %s |", cell.text[0] ? cell.text : "-");
}

void bb_md_percent(double ratio, FILE *mem)
{
	if (isfinite(ratio))
		fprintf(mem, "%+.2f %%", 100 * (ratio - 1));
	else
		putc('-', mem);
}

void bb_md_interval(const struct bb_estimate *ratio, FILE *mem)
{
	bb_md_percent(ratio->lo, mem);
	fputs(" to ", mem);
	bb_md_percent(ratio->hi, mem);
}

void bb_md_comparison(const struct bb_comparison *c, FILE *mem)
{
	fputs("| ", mem);
	bb_md_text(c->name, mem);
	fputs(" |", mem);
	bb_md_number(c->base_ns, c->base_ns, mem);
	bb_md_number(c->head_ns, c->base_ns, mem);
	putc(' ', mem);
	bb_md_percent(c->ratio.value, mem);
	fputs(" | ", mem);
	bb_md_interval(&c->ratio, mem);
}

static void put_note(const char *text, bool is_remedy, FILE *mem)
{
	fputs(is_remedy ? "  - " : "- **in vain**: ", mem);
	bb_md_text(text, mem);
	putc('\n', mem);
}

int bb_md_in_vain(const struct bb_report *r, FILE *mem)
{
	for (size_t i = 0; i < r->n_cases; i++)
		if (r->cases[i].n_in_vain) {
			putc('\n', mem);
			return bb_put_in_vain(r, NULL, put_note, mem);
		}
	return 0;
}
