/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* A document is the text that a command prints for people. It is made once, and then rendered as
 * text, Markdown or HTML. Each renderer escapes what a terminal, Markdown or a browser would
 * interpret, because texts may come from untrusted files. */
enum bb_doc_kind {
	BB_DOC_HEADLINE, /* title of the whole document, in Markdown "##" */
	BB_DOC_TITLE,    /* title of a section, in Markdown "###" */
	BB_DOC_PARAGRAPH,
	BB_DOC_FAINT,    /* a paragraph in a faint colour */
	BB_DOC_CLOSING,  /* a paragraph about the table above it, after an empty line */
	BB_DOC_BAD,      /* a warning */
	BB_DOC_ITEM,     /* an item of a list */
	BB_DOC_BAD_ITEM, /* a warning in a list */
	BB_DOC_SUBITEM,  /* an item of a list inside the previous item */
	BB_DOC_CODE,     /* a line of source as an item */
	BB_DOC_TABLE,
	/* In text, explains the columns of all tables before it. In HTML, their heads do that. */
	BB_DOC_LEGEND,
	/* in HTML, hides all blocks up to BB_DOC_FOLD_END until the reader opens this line */
	BB_DOC_FOLD,
	BB_DOC_FOLD_END,
};

enum bb_doc_cells {
	BB_CELLS_NUMBER,  /* aligned to the right */
	BB_CELLS_TEXT,    /* aligned to the left */
	BB_CELLS_VERDICT, /* aligned to the left, and coloured by the first word */
	BB_CELLS_CODE,    /* a line of source, which keeps its indentation */
};

/* value of `spill` of a column that, in text, always moves to a further table */
#define BB_DOC_BELOW 100
#define BB_DOC_LAST_DROP 3 /* the largest value of `drop` */

/* A column is not shown if its cells are empty in all rows. */
struct bb_doc_column {
	const char *head;
	enum bb_doc_cells cells;
	/* If a table in text is too wide, columns move to a further table below it: first those
	 * with spill 1, then those with spill 2, and so on. If that is not enough, the other
	 * columns follow, the rightmost first. */
	int spill;
	/* If a table in text is still too wide, columns are left out: first those with drop 1, then
	 * those with drop 2, and so on. 0 means never. With both `drop` and `spill`, a column is
	 * left out instead of moved. */
	int drop;
	/* on a terminal, a cell of the first column is left empty if it repeats the cell above */
	bool once;
	bool close;      /* in text, one blank before the column instead of two */
	const char *doc; /* explanation of the column, or NULL */
};

#define BB_NUMBER(name) .head = (name), .cells = BB_CELLS_NUMBER
#define BB_TEXT(name) .head = (name), .cells = BB_CELLS_TEXT
#define BB_VERDICT(name) .head = (name), .cells = BB_CELLS_VERDICT
#define BB_CODE(name) .head = (name), .cells = BB_CELLS_CODE

/* The text of a cell, returned by value so that nobody has to free it. */
struct bb_table_cell {
	char text[160]; /* UTF-8, empty if there is no figure */
};

struct bb_doc_cell {
	char *text; /* NULL if there is no figure, which is shown as "-" */
	bool faint;
};

struct bb_doc_block {
	enum bb_doc_kind kind;
	char *label, *text;            /* owned, may be NULL */
	struct bb_doc_column *columns; /* owned, but not the texts in it */
	size_t n_columns;
	struct bb_doc_cell *cells; /* row by row */
	size_t n_cells;
};

struct bb_doc {
	struct bb_doc_block *blocks;
	size_t n;
	bool faint; /* true if the cells that are added next are to be faint */
};

/* Adds a block with the text `fmt`, after a copy of `label`, which may be NULL. */
void bb_doc__add(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Appends a text to the last block. */
void bb_doc__append(struct bb_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds advice to give the command line `command` again with `option` added: "`sudo COMMAND --budget
 * 60` (why)". If `command` is NULL, the advice is "the same with `OPTION`". `why` may be NULL. */
void bb_doc__again(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *command,
		   const char *option, const char *why);

/* Adds a table with columns[n] and no rows. More columns may follow before the first cell. Then
 * cells are added to the last block, row by row, one for each column. */
void bb_doc__table(struct bb_doc *d, const struct bb_doc_column *columns, size_t n);
void bb_doc__column(struct bb_doc *d, struct bb_doc_column column);
/* Adds a table with these columns, such as {BB_TEXT("case")}, {BB_NUMBER("ns")}. */
#define bb_doc__columns(d, ...)                                                                    \
	bb_doc__table(d, (const struct bb_doc_column[]){__VA_ARGS__},                              \
		      BB_LEN(((const struct bb_doc_column[]){__VA_ARGS__})))
#define bb_doc__cell(d, ...) bb_doc__cell_if(d, true, __VA_ARGS__)
/* Adds a cell with a text made of `fmt`. If `has` is false, adds a cell without a figure. */
void bb_doc__cell_if(struct bb_doc *d, bool has, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void bb_doc__text_cell(struct bb_doc *d, const char *text); /* NULL if there is no figure */
/* Adds a copy of the cell. An empty cell means that there is no figure. */
void bb_doc__table_cell(struct bb_doc *d, struct bb_table_cell cell);
/* Adds a number, or no figure for NAN. `scale` sets the decimals as in bb_table_cell_number(). */
void bb_doc__number_cell(struct bb_doc *d, double value, double scale);

/* Removes the block with the index n and all later blocks. */
void bb_doc__cut(struct bb_doc *d, size_t n);
void bb_doc__done(struct bb_doc *d); /* frees all blocks */

/* How text looks on a terminal or in a file. */
struct bb_doc_look {
	size_t width; /* characters in a line */
	bool wrap;    /* break paragraphs and long cells into lines of at most `width` */
	/* cut long lines of source, and leave out repeated cells of a column with `once` */
	bool terse;
	/* write colours, for which the output must be a stream of base/clean.h */
	bool colour;
};

extern const struct bb_doc_look bb_doc_plain_look; /* the look in files and pipes */

void bb_doc__text(const struct bb_doc *d, const struct bb_doc_look *look, FILE *out);
void bb_doc__markdown(const struct bb_doc *d, FILE *out);
void bb_doc__html(const struct bb_doc *d, FILE *out);

/* Writes an untrusted text so that Markdown shows it unchanged: without markup, mentions of users,
 * or links. It does not end the cell of a table. Writes nothing if `text` is NULL. */
void bb_md_text(const char *text, FILE *out);

/* True if the column has a text in at least one row of the table. */
bool bb_doc_block__has_column(const struct bb_doc_block *b, size_t column);
/* True if the column has a text in at least one row, and has room when the table is text. */
bool bb_doc_block__shows_column(const struct bb_doc_block *b, size_t column,
				const struct bb_doc_look *look);
