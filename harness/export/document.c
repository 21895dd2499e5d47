/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/document.h"

#include <strings.h>

#include "base/text.h"
#include "export/table_cells.h"

void bb_doc__add(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *fmt, ...)
{
	struct bb_doc_block *b = bb_append(&d->blocks, &d->n, sizeof(*b));
	va_list ap;

	va_start(ap, fmt);
	bb_add_text(&b->text, "", fmt, ap);
	va_end(ap);
	b->kind = kind;
	b->label = label ? bb_strdup(label) : NULL;
}

void bb_doc__append(struct bb_doc *d, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	bb_add_text(&d->blocks[d->n - 1].text, "", fmt, ap);
	va_end(ap);
}

void bb_doc__again(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *command,
		   const char *option, const char *why)
{
	/* the advice leaves out --quiet, which would hide where the run is stored */
	static const char *const drop[] = {"--quiet", "-q"};
	char *loud = bb_command_without_all(command, drop, BB_LEN(drop)),
	     *with = loud ? bb_command_with(loud, option) : NULL;
	/* needs no root: `--vm` measures in a guest, and `annotate` reads stored runs */
	bool as_root = with && !strstr(with, " --vm") && strncmp(with, "bpfbench annotate ", 18);

	bb_doc__add(d, kind, label, "%s%s`%s%s%s",
		    !with     ? "the same with `"
		    : as_root ? "`sudo "
			      : "`",
		    with ? with : option, why ? " (" : "", why ? why : "", why ? ")" : "");
	free(with);
	free(loud);
}

void bb_doc__column(struct bb_doc *d, struct bb_doc_column column)
{
	struct bb_doc_block *b = &d->blocks[d->n - 1];

	BB_PUSH(b->columns, b->n_columns, column);
}

void bb_doc__table(struct bb_doc *d, const struct bb_doc_column *columns, size_t n)
{
	BB_PUSH(d->blocks, d->n, (struct bb_doc_block){.kind = BB_DOC_TABLE});
	for (size_t i = 0; i < n; i++)
		bb_doc__column(d, columns[i]);
}

void bb_doc__cell_if(struct bb_doc *d, bool has, const char *fmt, ...)
{
	struct bb_doc_block *b = &d->blocks[d->n - 1];
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (has)
		bb_add_text(&text, "", fmt, ap);
	va_end(ap);
	if (text)
		bb_make_clean(text);
	BB_PUSH(b->cells, b->n_cells, (struct bb_doc_cell){text, d->faint});
}

void bb_doc__text_cell(struct bb_doc *d, const char *text)
{
	bb_doc__cell_if(d, text, "%s", text);
}

void bb_doc__table_cell(struct bb_doc *d, struct bb_table_cell cell)
{
	bb_doc__text_cell(d, cell.text[0] ? cell.text : NULL);
}

void bb_doc__number_cell(struct bb_doc *d, double value, double scale)
{
	bb_doc__table_cell(d, bb_table_cell_number(value, scale));
}

void bb_doc__cut(struct bb_doc *d, size_t n)
{
	while (d->n > n) {
		struct bb_doc_block *b = &d->blocks[--d->n];

		for (size_t k = 0; k < b->n_cells; k++)
			free(b->cells[k].text);
		free(b->cells);
		free(b->columns);
		free(b->label);
		free(b->text);
	}
}

void bb_doc__done(struct bb_doc *d)
{
	bb_doc__cut(d, 0);
	free(d->blocks);
	*d = (struct bb_doc){0};
}

bool bb_doc_block__has_column(const struct bb_doc_block *b, size_t column)
{
	for (size_t i = column; i < b->n_cells; i += b->n_columns)
		if (b->cells[i].text && b->cells[i].text[0])
			return true;
	return false;
}

/* A space of no width, to be written after characters such as '@' and '#'. Without it, a site such
 * as GitHub notifies a user whom our text names, "@name", and makes a link of "#1". A backslash
 * does not help, because sites look for names in the rendered text. */
#define APART "&#8203;"
#define MARKUP "|\\`*_<>[]#&~$"

/* True if a site may make a link of the text at `at`: to a user, an issue, a commit or a URL.
 * `begins_word` says whether a word begins at `at`. */
static bool begins_link(const char *at, bool begins_word)
{
	/* counted only at a word's begin, so that the time for a long word is not quadratic */
	size_t n = begins_word ? strspn(at, "0123456789abcdefABCDEF") : 0;
	/* the hash of a commit; decimal digits alone are mostly a number */
	bool is_commit = n >= 7 && n <= 40 && strspn(at, "0123456789") != n &&
			 !isalnum((unsigned char)at[n]) && at[n] != '_';

	return at[0] == '@' || !strncmp(at, "://", 3) || !strncasecmp(at, "www.", 4) ||
	       (strchr("#!$%&~", at[0]) && isdigit((unsigned char)at[1])) || is_commit ||
	       (begins_word && !strncasecmp(at, "gh-", 3));
}

/* Returns the length, with its backquotes, of a command in backquotes that begins at `at` and needs
 * no escapes. Returns 0 if there is none. */
static size_t code_len(const char *at)
{
	size_t n = 1;

	if (*at != '`')
		return 0;
	while (isalnum((unsigned char)at[n]) || (at[n] && strchr(" ./_=-", at[n])))
		n++;
	return n > 1 && at[n] == '`' ? n + 1 : 0;
}

void bb_md_text(const char *text, FILE *out)
{
	bool begins_word = true;

	for (; text && *text; text++) {
		size_t code = code_len(text);

		if (code) {
			fwrite(text, 1, code, out);
			text += code - 1;
			continue;
		}
		if (strchr(MARKUP, *text))
			putc('\\', out);
		putc((unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text, out);
		if (begins_link(text, begins_word))
			fputs(APART, out);
		/* no word begins after '-', as at the end of a run's id, "-1a2b3c4d" */
		begins_word = !isalnum((unsigned char)*text) && !strchr("_-", *text);
	}
}

static void put_md_cell(const struct bb_doc_column *c, const char *text, FILE *out)
{
	bool strong = c->cells == BB_CELLS_VERDICT && text &&
		      (!strncmp(text, "regressed", 9) || !strncmp(text, "improved", 8));
	size_t word = strong ? strcspn(text, ",") : 0;

	putc(' ', out);
	if (strong)
		fprintf(out, "**%.*s**", (int)word, text);
	bb_md_text(text ? text + word : "-", out);
	fputs(" |", out);
}

static void put_md_table(const struct bb_doc_block *b, FILE *out)
{
	if (!b->n_cells)
		return;
	putc('|', out);
	for (size_t k = 0; k < b->n_columns; k++)
		if (bb_doc_block__has_column(b, k))
			put_md_cell(&(struct bb_doc_column){0}, b->columns[k].head, out);
	fputs("\n|", out);
	for (size_t k = 0; k < b->n_columns; k++)
		if (bb_doc_block__has_column(b, k))
			fputs(b->columns[k].cells == BB_CELLS_NUMBER ? "--:|" : "---|", out);
	for (size_t i = 0; i < b->n_cells; i++) {
		size_t k = i % b->n_columns;

		fputs(k ? "" : "\n|", out);
		if (bb_doc_block__has_column(b, k))
			put_md_cell(&b->columns[k], b->cells[i].text, out);
	}
	fputs("\n\n", out);
}

/* What stands before and after a block's text in Markdown and in HTML. */
static const struct {
	const char *md, *md_end, *html, *html_end;
} marks[] = {
	[BB_DOC_HEADLINE] = {"## ", "\n\n", "<h2>", "</h2>\n"},
	[BB_DOC_TITLE] = {"### ", "\n\n", "<h3>", "</h3>\n"},
	[BB_DOC_PARAGRAPH] = {"", "\n\n", "<p>", "</p>\n"},
	[BB_DOC_FAINT] = {"", "\n\n", "<p class=faint>", "</p>\n"},
	[BB_DOC_CLOSING] = {"", "\n\n", "<p>", "</p>\n"},
	[BB_DOC_BAD] = {"", "\n\n", "<p class=bad>", "</p>\n"},
	[BB_DOC_ITEM] = {"- ", "\n", "<p class=item>", "</p>\n"},
	[BB_DOC_BAD_ITEM] = {"- ", "\n", "<p class='item bad'>", "</p>\n"},
	[BB_DOC_SUBITEM] = {"  - ", "\n", "<p class='item faint'>", "</p>\n"},
	[BB_DOC_CODE] = {"- ", "\n", "<p class=item>", "</p>\n"},
	/* Markdown leaves these out */
	[BB_DOC_FOLD] = {NULL, NULL, "<details><summary>", "</summary>\n"},
	[BB_DOC_FOLD_END] = {NULL, NULL, "", "</details>\n"},
};

static bool is_item(enum bb_doc_kind kind)
{
	return kind >= BB_DOC_ITEM && kind <= BB_DOC_CODE;
}

void bb_doc__markdown(const struct bb_doc *d, FILE *out)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct bb_doc_block *b = &d->blocks[i];

		if (i && is_item(b[-1].kind) && b->kind <= BB_DOC_TABLE && !is_item(b->kind))
			putc('\n', out); /* Markdown ends a list at an empty line */
		if (b->kind == BB_DOC_TABLE)
			put_md_table(b, out);
		if (b->kind >= BB_DOC_TABLE)
			continue;
		fputs(marks[b->kind].md, out);
		if (b->label) {
			fputs("**", out);
			bb_md_text(b->label, out);
			fputs("**: ", out);
		}
		bb_md_text(b->text + strspn(b->text, " \t"), out);
		fputs(marks[b->kind].md_end, out);
	}
}

/* Writes a text, with <code> around its parts in backquotes. */
static void put_html_words(const char *text, FILE *out)
{
	while (*text) {
		size_t before = strcspn(text, "`"), code = 0;

		if (text[before])
			code = strcspn(text + before + 1, "`");
		if (!text[before] || !text[before + 1 + code])
			break;
		for (int i = 0; i < 2; i++) {
			char *part = bb_strndup(i ? text + before + 1 : text, i ? code : before);

			fputs(i ? "<code>" : "", out);
			bb_xml_text(out, part);
			fputs(i ? "</code>" : "", out);
			free(part);
		}
		text += before + code + 2;
	}
	bb_xml_text(out, text);
}

static void put_html_cell(const struct bb_doc_column *c, const struct bb_doc_cell *cell, FILE *out)
{
	const char *text = cell->text ? cell->text : "–";

	if (c->cells == BB_CELLS_VERDICT && cell->text)
		fprintf(out, "<td class='text verdict %.*s'>",
			(int)strspn(cell->text, "abcdefghijklmnopqrstuvwxyz"), cell->text);
	else
		fprintf(out, "<td%s>",
			c->cells == BB_CELLS_NUMBER ? cell->faint ? " class=faint" : ""
			: cell->faint               ? " class='text faint'"
						    : " class=text");
	/* HTML would drop the indentation */
	for (; *text == ' ' || *text == '\t'; text++)
		fputs(*text == ' ' ? "&#160;" : "&#160;&#160;&#160;&#160;", out);
	bb_xml_text(out, text);
	fputs("</td>", out);
}

#define WIDE 150u /* a table whose rows have more characters than this is too wide for a screen */

/* Writes the columns for which shown[n_columns] is true. Browsers print <thead> on each page. */
static void put_html_columns(const struct bb_doc_block *b, const bool *shown, FILE *out)
{
	fputs("<div class=scroll tabindex=0><table><thead><tr>", out);
	for (size_t k = 0; k < b->n_columns; k++) {
		const struct bb_doc_column *c = &b->columns[k];

		if (!shown[k])
			continue;
		fputs(c->cells == BB_CELLS_NUMBER ? "<th" : "<th class=text", out);
		if (c->doc) {
			fputs(" title='", out);
			bb_xml_text(out, c->doc);
			putc('\'', out);
		}
		putc('>', out);
		bb_xml_text(out, c->head);
	}
	fputs("</tr></thead>\n", out);
	for (size_t i = 0; i < b->n_cells; i++) {
		size_t k = i % b->n_columns;

		fputs(k ? "" : "<tr>", out);
		if (shown[k])
			put_html_cell(&b->columns[k], &b->cells[i], out);
		fputs(k + 1 == b->n_columns ? "</tr>\n" : "", out);
	}
	fputs("</table></div>\n", out);
}

static size_t row_chars(const struct bb_doc_block *b)
{
	size_t n = 0;

	for (size_t k = 0; k < b->n_columns; k++) {
		size_t most = 6; /* each column is at least about as wide as its head */

		if (!bb_doc_block__has_column(b, k))
			continue;
		for (size_t i = k; i < b->n_cells; i += b->n_columns)
			if (b->cells[i].text && strlen(b->cells[i].text) > most)
				most = strlen(b->cells[i].text);
		n += most + 3;
	}
	return n;
}

/* Writes a table. If it is too wide for a screen, BB_DOC_BELOW columns go into a second table. */
static void put_html_table(const struct bb_doc_block *b, FILE *out)
{
	bool *shown = bb_calloc(b->n_columns, sizeof(*shown)), is_wide = row_chars(b) > WIDE;

	for (int second = 0; second <= is_wide && b->n_cells; second++) {
		size_t n = 0;

		for (size_t k = 0; k < b->n_columns; k++) {
			bool is_below = is_wide && b->columns[k].spill == BB_DOC_BELOW;

			shown[k] = (!k || is_below == second) && bb_doc_block__has_column(b, k);
			n += shown[k];
		}
		if (n > (size_t)second)
			put_html_columns(b, shown, out);
	}
	free(shown);
}

void bb_doc__html(const struct bb_doc *d, FILE *out)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct bb_doc_block *b = &d->blocks[i];

		if (b->kind == BB_DOC_TABLE)
			put_html_table(b, out);
		if (b->kind == BB_DOC_TABLE || b->kind == BB_DOC_LEGEND)
			continue;
		fputs(marks[b->kind].html, out);
		if (b->label) {
			fputs("<b>", out);
			bb_xml_text(out, b->label);
			fputs("</b>: ", out);
		}
		put_html_words(b->text, out);
		fputs(marks[b->kind].html_end, out);
	}
}
