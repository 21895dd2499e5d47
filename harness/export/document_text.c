/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/clean.h"
#include "export/table_cells.h"

#define ABSENT "-" /* stands for a missing figure, so that the reader's eye stays in the column */

#define LEAST_LAST 24u /* smallest width, in characters, of a last column of text */
/* if a last column of text can have this width, its text stays in the row, however long it is */
#define MOST_LAST 40u
#define LEAST_CODE 12u /* smallest width of a last column of source */

const struct bb_doc_look bb_doc_plain_look = {.width = 80, .wrap = true};

struct page {
	const struct bb_doc_look *look;
	FILE *out;
};

static void put_coloured(const struct page *p, const char *colour, const char *text)
{
	bool coloured = p->look->colour && colour[0];

	if (coloured)
		bb_clean__put_raw(p->out, colour);
	bb_put_clean(p->out, text);
	if (coloured)
		bb_clean__put_raw(p->out, "\033[0m");
}

/* True if the blank text[at] stands within an interval such as "[-1.2, +3.4]". */
static bool is_in_interval(const char *text, size_t at)
{
	size_t begin = at - 1;

	if (text[begin] != ',')
		return false;
	while (begin && (isdigit((unsigned char)text[begin - 1]) || strchr("+-.", text[begin - 1])))
		begin--;
	return begin && text[begin - 1] == '[';
}

/* True if the word before the blank text[at] is an option that begins with `dashes`. */
static bool is_behind_option(const char *text, size_t at, const char *dashes)
{
	size_t begin = at;

	while (begin && text[begin - 1] != ' ' && text[begin - 1] != '`')
		begin--;
	return !strncmp(text + begin, dashes, strlen(dashes)) &&
	       isalnum((unsigned char)text[at - 1]);
}

/* True if no line may end at the blank text[at], as in "60 ns", "A 305", "[1, 2]", "--loads 5". */
static bool is_kept(const char *text, size_t at)
{
	if (is_in_interval(text, at) ||
	    (at > 1 && text[at - 2] == ' ' && strchr("AB", text[at - 1]) &&
	     isdigit((unsigned char)text[at + 1])))
		return true;

	if (isdigit((unsigned char)text[at - 1]) &&
	    (text[at + 1] == '%' || islower((unsigned char)text[at + 1])))
		return true;

	return is_behind_option(text, at, "--") && text[at + 1] != '-' &&
	       !islower((unsigned char)text[at + 1]);
}

/* Returns how many bytes of `text` go into a line of `width` characters. The line ends at a blank.
 * A blank within a command (a text in backquotes) counts only if the command is longer than a line,
 * or if there is no other blank. Such a blank must stand between two words of the shell.
 * `*in_command` says whether the line begins within a command, and receives whether the next line
 * does. */
static size_t line_len(const char *text, size_t width, bool *in_command)
{
	bool is_in = *in_command, is_long = true, is_quoted = false, ends_in = false;
	size_t at = 0, blank = 0, any_blank = 0, n = 0;

	for (; text[at] && (n <= width || (is_in && !any_blank)); at++) {
		size_t rest = text[at] == '`' && !is_in ? strcspn(text + at + 1, "`") : 0;

		n += ((unsigned char)text[at] & 0xc0) != 0x80;
		if (text[at] == '`') {
			is_in = rest && text[at + 1 + rest];
			is_long = rest + 2 > width;
		}
		/* outside quotes, \' in a command is a literal quote and begins no quoted text */
		is_quoted ^= is_in && text[at] == '\'' &&
			     (is_quoted || !at || text[at - 1] != '\\');
		/* a line that ends within a command must have room for " \" */
		if (text[at] != ' ' || (at && is_kept(text, at)) || is_quoted ||
		    (is_in && n >= width && any_blank) ||
		    (is_in && is_behind_option(text, at, "-") && text[at + 1] != '-'))
			continue;
		any_blank = at;
		if (is_in && !is_long)
			continue;
		blank = at;
		ends_in = is_in;
	}
	if (!text[at] && (n <= width || !any_blank)) {
		*in_command = false;
		return at;
	}
	/* this line has no blank, and the command ends in it */
	if (*in_command && !is_in && !any_blank) {
		*in_command = false;
		return at + strcspn(text + at, " ");
	}
	*in_command = blank ? ends_in : any_blank != 0;
	if (blank || any_blank)
		return blank ? blank : any_blank;
	/* in a path that is longer than a line, a line may end after a slash */
	for (at = at < width ? at : width; at && text[at - 1] != '/'; at--)
		;
	return at ? at : strcspn(text, " ");
}

/* Writes `text` in lines. The first line begins in column `at`, all others in column `next`. A line
 * that ends within a command ends in a backslash, as in a shell. */
static void put_words(const struct page *p, const char *text, const char *colour, size_t at,
		      size_t next)
{
	bool in_command = false;

	while (p->look->wrap && *text) {
		size_t room = p->look->width > at + LEAST_LAST ? p->look->width - at : LEAST_LAST;
		size_t len = line_len(text, room, &in_command);
		char *line = bb_strndup(text, len);

		put_coloured(p, colour, line);
		free(line);
		text += len;
		text += strspn(text, " ");
		if (!*text)
			break;
		fprintf(p->out, "%s\n%*s", in_command ? " \\" : "", (int)next, "");
		at = next;
	}
	if (*text)
		put_coloured(p, colour, text);
}

static void put_block(const struct page *p, const struct bb_doc_block *b)
{
	static const struct {
		size_t indent;
		const char *colour;
	} of[] = {
		[BB_DOC_HEADLINE] = {0, "\033[1m"},
		[BB_DOC_TITLE] = {0, "\033[1m"},
		[BB_DOC_PARAGRAPH] = {0, ""},
		[BB_DOC_FAINT] = {0, "\033[2m"},
		[BB_DOC_CLOSING] = {0, ""},
		[BB_DOC_BAD] = {0, "\033[31m"},
		[BB_DOC_ITEM] = {2, ""},
		[BB_DOC_BAD_ITEM] = {2, "\033[33m"},
		[BB_DOC_SUBITEM] = {4, ""},
		[BB_DOC_CODE] = {2, ""},
	};
	size_t indent = of[b->kind].indent;
	char *words = bb_asprintf("%s%s%s", b->label ? b->label : "", b->label ? ": " : "",
				  b->text);

	fprintf(p->out, "%*s", (int)indent, "");
	if (b->kind == BB_DOC_CODE)
		bb_put_code(p->out, b->text,
			    p->look->terse && p->look->width > indent ? p->look->width - indent
								      : SIZE_MAX);
	else
		put_words(p, words, of[b->kind].colour, indent, indent + 2);
	putc('\n', p->out);
	free(words);
}

struct layout {
	const struct bb_doc_block *b;
	size_t *width; /* width[n_columns] in characters; 0 if the column is not in the table */
	/* later[n_columns], true for columns that a further table will show */
	bool *later;
	bool *skip;    /* skip[n_columns], true for columns that were shown or left out before */
	size_t indent; /* blanks before each row */
	bool on_two_lines; /* true if the first cell of each row has a line of its own */
	/* index of the column whose text stands on a line below each row, or 0 */
	size_t under_row;
};

static const char *cell_text(const struct layout *l, size_t i)
{
	const struct bb_doc_cell *cell = &l->b->cells[i];

	if (cell->text)
		return cell->text;
	return l->b->columns[i % l->b->n_columns].close ? "" : ABSENT;
}

static size_t total_width(const struct layout *l)
{
	size_t total = l->indent, n = 0;

	for (size_t k = l->on_two_lines; k < l->b->n_columns; k++)
		if (l->width[k])
			total += l->width[k] + (!n++ ? 0 : l->b->columns[k].close ? 1 : 2);
	return total;
}

/* Computes the widths of the columns in the table. If lines of source are not cut, their column
 * gets the width of its head, and the lines reach beyond it. */
static void measure(struct layout *l, const struct bb_doc_look *look)
{
	const struct bb_doc_block *b = l->b;

	for (size_t k = 0; k < b->n_columns; k++) {
		l->width[k] = 0;
		if (!bb_doc_block__has_column(b, k) || l->later[k] || l->skip[k])
			continue;
		l->width[k] = bb_text_width(b->columns[k].head);
		if (b->columns[k].cells == BB_CELLS_CODE && !look->terse)
			continue;
		for (size_t i = k; i < b->n_cells; i += b->n_columns) {
			size_t width = bb_text_width(cell_text(l, i));

			l->width[k] = width > l->width[k] ? width : l->width[k];
		}
	}
}

static size_t last_column(const struct layout *l)
{
	size_t last = l->b->n_columns;

	while (last-- > 1 && !l->width[last])
		;
	return last;
}

/* If the table is too wide, narrows its last column of text or source to the room that the other
 * columns leave. Does nothing if that room is too small. */
static void narrow_last(struct layout *l, const struct bb_doc_look *look)
{
	size_t last = last_column(l), others;
	bool is_code = l->b->columns[last].cells == BB_CELLS_CODE;
	size_t least = is_code ? LEAST_CODE : LEAST_LAST, half = l->width[last] / 2;

	/* require more room if the text can move below the row, which needs text in column 0 */
	if (!is_code && half > least && l->b->columns[0].cells == BB_CELLS_TEXT)
		least = half < MOST_LAST ? half : MOST_LAST;
	others = total_width(l) - l->width[last];
	if (look->wrap && (look->terse || !is_code) &&
	    l->b->columns[last].cells != BB_CELLS_NUMBER && total_width(l) > look->width &&
	    look->width >= others + least)
		l->width[last] = look->width - others;
}

/* Moves the last column to a further table. A column that is `close` takes the column before it
 * along. Returns false if only the first column would be left. */
static bool move_last(struct layout *l)
{
	size_t last = last_column(l), k = last, first = 1;

	while (first < last && !l->width[first])
		first++;
	while (k > first && l->b->columns[k].close)
		k--;
	if (k <= first)
		return false;
	for (; k <= last; k++) {
		l->later[k] |= l->width[k] != 0;
		l->width[k] = 0;
	}
	return true;
}

/* Lays out a further table with the columns that were left for later. Columns that do not fit are
 * left again. Returns false if no column was left. */
static bool lay_out_next(struct layout *l, const struct bb_doc_look *look)
{
	bool has_any = false;

	for (size_t k = 1; k < l->b->n_columns; k++) {
		l->skip[k] = !l->later[k] || l->b->columns[k].drop;
		has_any |= !l->skip[k];
		l->later[k] = false;
	}
	if (!has_any)
		return false;
	measure(l, look);
	while (total_width(l) > look->width && move_last(l))
		;
	return true;
}

/* Makes the table fit by these steps, as far as needed. Columns with `spill` move to a further
 * table, and then others from the right. Columns with `drop` are left out. The last column is
 * narrowed. The first column gets lines of its own, and the last one moves below each row. */
static void lay_out(struct layout *l, const struct bb_doc_look *look)
{
	const struct bb_doc_block *b = l->b;

	for (int turn = 0; turn < BB_DOC_BELOW; turn++) {
		int out = turn ? turn : BB_DOC_BELOW;

		measure(l, look);
		if (turn && total_width(l) <= look->width)
			return;
		for (size_t k = 0; k < b->n_columns; k++)
			l->later[k] |= b->columns[k].spill == out && bb_doc_block__has_column(b, k);
	}
	for (size_t k = 1; k < b->n_columns; k++)
		while (l->later[k] && total_width(l) > look->width && move_last(l))
			;
	for (int turn = 1; turn <= BB_DOC_LAST_DROP && total_width(l) > look->width; turn++)
		for (size_t k = 0; k < b->n_columns; k++)
			l->width[k] *= b->columns[k].drop != turn;
	narrow_last(l, look);
	if (total_width(l) <= look->width || b->columns[0].cells != BB_CELLS_TEXT || !look->wrap)
		return;
	l->on_two_lines = true;
	l->indent += 2;
	narrow_last(l, look);
	size_t last = last_column(l);
	if (total_width(l) > look->width && b->columns[last].cells == BB_CELLS_TEXT &&
	    last > l->on_two_lines) {
		l->under_row = last;
		l->width[last] = 0;
	}
}

/* Writes one cell. `*pending` is the number of blanks before the next text. They are written only
 * with this text, so that no line ends in blanks. */
static void put_cell(const struct page *p, const struct layout *l, size_t k, const char *text,
		     const char *colour, bool is_first, size_t *pending)
{
	const struct bb_doc_column *c = &l->b->columns[k];
	size_t width = bb_text_width(text), begin;
	size_t space = width < l->width[k] ? l->width[k] - width : 0;

	if (!is_first)
		*pending += c->close ? 1 : 2;
	/* A long line of source may begin further left if no other text stands in its row. */
	bool alone = width > l->width[k] && *pending + l->width[k] == p->look->width;
	if (alone && c->cells == BB_CELLS_CODE)
		*pending = width < p->look->width ? p->look->width - width : 0;
	begin = *pending + (c->cells == BB_CELLS_NUMBER ? space : 0);
	if (!*text) {
		*pending += l->width[k];
		return;
	}
	fprintf(p->out, "%*s", (int)begin, "");
	if (width > l->width[k] && c->cells == BB_CELLS_CODE && p->look->terse && !alone) {
		size_t at = 0, n = 0;

		while (text[at] && (n += ((unsigned char)text[at] & 0xc0) != 0x80) < l->width[k])
			at++;
		char *start = bb_strndup(text, at);
		put_coloured(p, colour, start);
		fputs("…", p->out);
		free(start);
	} else if (width > l->width[k] && c->cells != BB_CELLS_CODE)
		put_words(p, text, colour, p->look->width - l->width[k],
			  p->look->width - l->width[k]);
	else
		put_coloured(p, colour, text);
	*pending = c->cells == BB_CELLS_NUMBER ? 0 : space;
}

static const char *colour_of(const struct layout *l, size_t i)
{
	const struct bb_doc_cell *cell = &l->b->cells[i];

	static const struct {
		const char *begin, *colour;
	} verdicts[] = {
		{"regressed", "\033[31m"}, {"improved", "\033[32m"}, {"fail", "\033[31m"},
		{"warn", "\033[33m"},      {"ok", "\033[32m"},       {"skip", "\033[2m"},
	};

	for (size_t k = 0; k < BB_LEN(verdicts); k++)
		if (l->b->columns[i % l->b->n_columns].cells == BB_CELLS_VERDICT && cell->text &&
		    !strncmp(cell->text, verdicts[k].begin, strlen(verdicts[k].begin)))
			return verdicts[k].colour;
	return cell->faint ? "\033[2m" : "";
}

static bool is_repeated(const struct layout *l, size_t first)
{
	return first && !strcmp(cell_text(l, first), cell_text(l, first - l->b->n_columns));
}

/* Writes the row that begins with cell `first` or, with `heads`, the heads of the columns. */
static void put_row(const struct page *p, const struct layout *l, size_t first, bool heads)
{
	size_t pending = l->indent, n = 0;

	if (l->on_two_lines && !heads && !is_repeated(l, first) && *cell_text(l, first)) {
		fprintf(p->out, "%*s", (int)l->indent - 2, "");
		put_coloured(p, colour_of(l, first), cell_text(l, first));
		putc('\n', p->out);
	}
	for (size_t k = l->on_two_lines; k < l->b->n_columns; k++)
		if (l->width[k])
			put_cell(p, l, k,
				 heads ? l->b->columns[k].head
				 : !k && p->look->terse && l->b->columns[k].once &&
						 is_repeated(l, first)
					 ? ""
					 : cell_text(l, first + k),
				 heads ? "\033[2m" : colour_of(l, first + k), !n++, &pending);
	putc('\n', p->out);
}

static void put_rows(const struct page *p, const struct layout *l)
{
	put_row(p, l, 0, true);
	for (size_t i = 0; i < l->b->n_cells; i += l->b->n_columns) {
		const struct bb_doc_cell *under = &l->b->cells[i + l->under_row];

		put_row(p, l, i, false);
		if (!l->under_row || !under->text || !*under->text)
			continue;
		fprintf(p->out, "%*s", (int)l->indent + 2, "");
		put_words(p, under->text, colour_of(l, i + l->under_row), l->indent + 2,
			  l->indent + 2);
		putc('\n', p->out);
	}
}

static struct layout begin_layout(const struct bb_doc_block *b, const struct bb_doc_look *look,
				  size_t indent)
{
	struct layout l = {.b = b, .indent = indent};

	l.width = bb_calloc(b->n_columns, sizeof(*l.width));
	l.later = bb_calloc(2 * b->n_columns, sizeof(*l.later));
	l.skip = l.later + b->n_columns;
	lay_out(&l, look);
	return l;
}

bool bb_doc_block__shows_column(const struct bb_doc_block *b, size_t column,
				const struct bb_doc_look *look)
{
	struct layout l = begin_layout(b, look, 0);
	bool shows = l.width[column] || (l.later[column] && !b->columns[column].drop) ||
		     (l.on_two_lines && !column) || (column && l.under_row == column);

	free(l.width);
	free(l.later);
	return shows;
}

static void put_table(const struct page *p, const struct bb_doc_block *b, size_t indent)
{
	struct layout l = begin_layout(b, p->look, indent);

	put_rows(p, &l);
	while (lay_out_next(&l, p->look)) {
		putc('\n', p->out);
		put_rows(p, &l);
	}
	free(l.width);
	free(l.later);
}

/* True if an earlier column has the same explanation as column k of block `end`. */
static bool was_explained(const struct bb_doc *d, size_t end, size_t k)
{
	const struct bb_doc_column *c = &d->blocks[end].columns[k];

	for (size_t i = 0; i <= end; i++)
		for (size_t n = 0; n < d->blocks[i].n_columns && (i < end || n < k); n++)
			if (bb_doc_block__has_column(&d->blocks[i], n) &&
			    d->blocks[i].columns[n].doc == c->doc)
				return true;
	return false;
}

#define LEGEND_HEAD 23 /* length of the longest head, "verified-instructions", and two blanks */

static void put_legend(const struct page *p, const struct bb_doc *d, size_t end)
{
	for (size_t i = 0; i < end; i++)
		for (size_t k = 0; k < d->blocks[i].n_columns; k++) {
			const struct bb_doc_column *c = &d->blocks[i].columns[k];

			if (!c->doc || !bb_doc_block__shows_column(&d->blocks[i], k, p->look) ||
			    was_explained(d, i, k))
				continue;
			fprintf(p->out, "  %s%*s", c->head,
				LEGEND_HEAD - (int)bb_text_width(c->head), "");
			put_words(p, c->doc, "", LEGEND_HEAD + 2, LEGEND_HEAD + 2);
			putc('\n', p->out);
		}
}

/* True if an empty line separates the two blocks. */
static bool is_apart(const struct bb_doc_block *before, const struct bb_doc_block *b)
{
	if (b->kind <= BB_DOC_TITLE || b->kind == BB_DOC_CLOSING || before->kind == BB_DOC_HEADLINE)
		return true;
	if (b->kind == BB_DOC_TABLE)
		return before->kind != BB_DOC_TITLE;
	return b->kind <= BB_DOC_BAD && before->kind >= BB_DOC_ITEM;
}

void bb_doc__text(const struct bb_doc *d, const struct bb_doc_look *look, FILE *out)
{
	const struct page p = {look, out};
	const struct bb_doc_block *before = NULL;
	size_t indent = 0;

	for (size_t i = 0; i < d->n; i++) {
		const struct bb_doc_block *b = &d->blocks[i];

		if (b->kind >= BB_DOC_FOLD || (b->kind == BB_DOC_TABLE && !b->n_cells))
			continue;
		if (before && is_apart(before, b))
			putc('\n', out);
		if (b->kind == BB_DOC_TABLE)
			put_table(&p, b, indent);
		else if (b->kind == BB_DOC_LEGEND)
			put_legend(&p, d, i);
		else
			put_block(&p, b);
		indent = b->kind == BB_DOC_TITLE ? 2 : b->kind <= BB_DOC_PARAGRAPH ? 0 : indent;
		before = b;
	}
}
