/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXPORT_DOCUMENT_H
#define BB_EXPORT_DOCUMENT_H

#include "base/std.h"

/*
 * What a command says to people: titles, paragraphs, items of lists, and tables. A document is made
 * once and rendered as text, as Markdown or as HTML; which columns a table has and how a note is
 * worded is decided where it is made. Texts are as others wrote them; each renderer escapes what
 * its reader would obey.
 *
 * Running out of memory while a document is made sticks, and the renderers return it.
 */
enum bb_doc_kind {
	BB_DOC_HEADLINE,  /* of the whole; Markdown "##" */
	BB_DOC_TITLE,     /* of a section; Markdown "###" */
	BB_DOC_PARAGRAPH, /* "label: text" */
	BB_DOC_FAINT,     /* a paragraph of secondary importance */
	BB_DOC_CLOSING,   /* the last line below a table, apart from it */
	BB_DOC_BAD,       /* a paragraph that must not be overlooked */
	BB_DOC_ITEM,      /* of a list: "label: text" */
	BB_DOC_BAD_ITEM,
	BB_DOC_SUBITEM, /* belongs to the item before it */
	BB_DOC_CODE,    /* a line of source as an item */
	BB_DOC_TABLE,
	BB_DOC_LEGEND, /* text: what the columns of all tables before mean; HTML: each head has it
			*/
	/* HTML: what follows up to the end is folded away under the text */
	BB_DOC_FOLD,
	BB_DOC_FOLD_END,
};

enum bb_doc_cells {
	BB_CELLS_NUMBER,  /* aligned to the right */
	BB_CELLS_TEXT,    /* aligned to the left */
	BB_CELLS_VERDICT, /* coloured by its first word */
	BB_CELLS_CODE,    /* a line of source, whose indentation is kept */
};

#define BB_DOC_BELOW 100 /* a column that text always has below the table */

/* A column in which no row says anything is not shown. */
struct bb_doc_column {
	const char *head;
	enum bb_doc_cells cells;
	/* text that is too wide has this column below the table, 1 first; 0: never */
	int spill;
	bool close;      /* text: one blank before it, not two */
	const char *doc; /* its meaning; NULL: it explains itself */
};

#define BB_NUMBER(name) .head = (name), .cells = BB_CELLS_NUMBER
#define BB_TEXT(name) .head = (name), .cells = BB_CELLS_TEXT
#define BB_VERDICT(name) .head = (name), .cells = BB_CELLS_VERDICT
#define BB_CODE(name) .head = (name), .cells = BB_CELLS_CODE

/* A text on its way to a cell (export/table_cells.h). */
struct bb_table_cell {
	char text[160]; /* UTF-8; empty: there is nothing to say */
};

struct bb_doc_cell {
	char *text; /* NULL: the figure is missing, "-" */
	bool faint;
};

struct bb_doc_block {
	enum bb_doc_kind kind;
	char *label, *text;            /* NULL: none */
	struct bb_doc_column *columns; /* columns[n_columns]; their texts are the caller's */
	size_t n_columns;
	struct bb_doc_cell *cells; /* row by row */
	size_t n_cells;
};

struct bb_doc {
	struct bb_doc_block *blocks;
	size_t n;
	bool faint;  /* cells that are added from now on are of secondary importance */
	bool failed; /* out of memory */
};

/* The text is made of `fmt`; label NULL: none. */
void bb_doc__add(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* A text that goes on after the last block's. */
void bb_doc__append(struct bb_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A table without rows, columns[n]; more columns may be added before the first cell. Cells follow
 * row by row; rows end by themselves. */
void bb_doc__table(struct bb_doc *d, const struct bb_doc_column *columns, size_t n);
void bb_doc__column(struct bb_doc *d, struct bb_doc_column column);
void bb_doc__cell(struct bb_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void bb_doc__text_cell(struct bb_doc *d, const char *text);           /* NULL: missing */
void bb_doc__table_cell(struct bb_doc *d, struct bb_table_cell cell); /* empty: missing */
/* scale: export/table_cells.h; NAN: missing */
void bb_doc__number_cell(struct bb_doc *d, double value, double scale);

/* Takes all blocks from the n-th on out again. */
void bb_doc__cut(struct bb_doc *d, size_t n);
void bb_doc__done(struct bb_doc *d);

/* Where text is read. */
struct bb_doc_look {
	size_t width; /* of a line, in characters */
	bool wrap;    /* paragraphs and long cells end at the width, too */
	bool colour;  /* the stream is base/clean.h's */
};

extern const struct bb_doc_look bb_doc_plain_look; /* of files and pipes */

/* All of them: 0 or -ENOMEM, and then they have written nothing. */
int bb_doc__text(const struct bb_doc *d, const struct bb_doc_look *look, FILE *out);
int bb_doc__markdown(const struct bb_doc *d, FILE *out);
int bb_doc__html(const struct bb_doc *d, FILE *out);

/* One text of Markdown: it neither ends a cell nor begins markup, mentions a user, refers to an
 * issue or commit, or is a link. NULL: nothing. */
void bb_md_text(const char *text, FILE *out);

/* For the renderers: does any row say something in that column? */
bool bb_doc_block__has_column(const struct bb_doc_block *b, size_t column);

#endif
