/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The text that a command prints for people: titles, paragraphs, items of lists, and tables. A
 * document is made once, and then rendered as text, Markdown or HTML. The code that makes it
 * chooses the columns of a table and the words of a note. Texts may come from untrusted files. Each
 * renderer escapes what a terminal, Markdown or a browser would interpret. */
enum bb_doc_kind {
	BB_DOC_HEADLINE,  /* title of the whole document; in Markdown "##" */
	BB_DOC_TITLE,     /* title of a section; in Markdown "###" */
	BB_DOC_PARAGRAPH, /* a paragraph: "label: text" */
	BB_DOC_FAINT,     /* a paragraph of secondary importance, in a faint colour */
	BB_DOC_CLOSING,   /* a paragraph about the table above it, after an empty line */
	BB_DOC_BAD,       /* a paragraph that is a warning */
	BB_DOC_ITEM,      /* item of a list: "label: text" */
	BB_DOC_BAD_ITEM,  /* item of a list that is a warning */
	BB_DOC_SUBITEM,   /* item of a list inside the previous item */
	BB_DOC_CODE,      /* a line of source as an item */
	BB_DOC_TABLE,
	/* explains the columns of all earlier tables; in HTML the head of each column has its
	 * explanation instead */
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

/* value of `spill`: in text, the column always stands in a further table */
#define BB_DOC_BELOW 100
#define BB_DOC_LAST_DROP 3 /* the largest value of `drop` */

/* A column is not shown if its cells are empty in all rows. */
struct bb_doc_column {
	const char *head;
	enum bb_doc_cells cells;
	/* In text, if a table is too wide, columns move to a further table, which repeats the first
	 * column: first those with spill 1, then those with spill 2, and so on; last, columns from
	 * the right, whatever their `spill`. 0: the column moves only as one of these last;
	 * BB_DOC_BELOW: it always moves. */
	int spill;
	/* In text, if a table is still too wide, its columns are left out: first those with drop 1,
	 * then those with drop 2, and so on. 0 means never. A column that also has a `spill` is
	 * left out instead of moved. */
	int drop;
	/* true, only for the first column: on a terminal, a text that repeats the one above is
	 * left empty */
	bool once;
	bool close;      /* true: in text, one blank before the column instead of two */
	const char *doc; /* explanation of the column for the legend; NULL: none is needed */
};

#define BB_NUMBER(name) .head = (name), .cells = BB_CELLS_NUMBER
#define BB_TEXT(name) .head = (name), .cells = BB_CELLS_TEXT
#define BB_VERDICT(name) .head = (name), .cells = BB_CELLS_VERDICT
#define BB_CODE(name) .head = (name), .cells = BB_CELLS_CODE

/* The text of a cell, as functions return it (export/table_cells.h). */
struct bb_table_cell {
	char text[160]; /* UTF-8; empty: there is no figure */
};

struct bb_doc_cell {
	char *text; /* NULL: there is no figure, and "-" is shown */
	bool faint; /* true: of secondary importance */
};

struct bb_doc_block {
	enum bb_doc_kind kind;
	char *label, *text;            /* owned; NULL: the block has none */
	struct bb_doc_column *columns; /* columns[n_columns]; their texts belong to the caller */
	size_t n_columns;
	struct bb_doc_cell *cells; /* cells[n_cells] of a table, row by row */
	size_t n_cells;
};

struct bb_doc {
	struct bb_doc_block *blocks;
	size_t n;
	bool faint; /* true: the cells that are added next are of secondary importance */
};

/* Adds a block with a text made of `fmt`, and a copy of `label`. `label` NULL: the block has
 * none. */
void bb_doc__add(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Appends a text made of `fmt` to the text of the document's last block. */
void bb_doc__append(struct bb_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds advice to give the command line `command` again, with the option `option` ("--budget
 * 60"): "`sudo COMMAND` (why)". `command` NULL: no command line is known. `why` NULL: no reason
 * is given. */
void bb_doc__again(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *command,
		   const char *option, const char *why);

/* Adds a table with columns[n] and no rows. More columns may be added before the first cell. Cells
 * are then added row by row, one for each column. All functions for cells add to the last block. */
void bb_doc__table(struct bb_doc *d, const struct bb_doc_column *columns, size_t n);
void bb_doc__column(struct bb_doc *d, struct bb_doc_column column);
#define bb_doc__cell(d, ...) bb_doc__cell_if(d, true, __VA_ARGS__)
/* Adds a cell with a text made of `fmt`. If `has` is false, adds a cell without a figure. */
void bb_doc__cell_if(struct bb_doc *d, bool has, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void bb_doc__text_cell(struct bb_doc *d, const char *text); /* NULL: there is no figure */
/* Adds a copy of the cell; an empty one stands for a missing figure. */
void bb_doc__table_cell(struct bb_doc *d, struct bb_table_cell cell);
/* Adds a number; NAN stands for a missing figure. `scale` sets the decimals, as for
 * bb_table_cell_number(). */
void bb_doc__number_cell(struct bb_doc *d, double value, double scale);

/* Removes the block with the index n and all later blocks. */
void bb_doc__cut(struct bb_doc *d, size_t n);
void bb_doc__done(struct bb_doc *d); /* frees all blocks */

/* How text looks on a terminal or in a file. */
struct bb_doc_look {
	size_t width; /* characters in a line */
	bool wrap;    /* true: paragraphs and long cells are broken into lines of at most `width` */
	/* true: lines of source that are too wide are cut and end in "…"; cells of a column with
	 * `once` that repeat the cell above are empty */
	bool terse;
	/* true: colours may be written; then the output must be a stream of base/clean.h */
	bool colour;
};

extern const struct bb_doc_look bb_doc_plain_look; /* the look in files and pipes */

/* Render the whole document. */
void bb_doc__text(const struct bb_doc *d, const struct bb_doc_look *look, FILE *out);
void bb_doc__markdown(const struct bb_doc *d, FILE *out);
void bb_doc__html(const struct bb_doc *d, FILE *out);

/* Writes a text with escapes, so that Markdown shows it unchanged: it does not end the cell of a
 * table, begin markup, mention a user, refer to an issue or commit, or become a link. Writes
 * nothing if `text` is NULL. */
void bb_md_text(const char *text, FILE *out);

/* True if the column has a text in at least one row of the table. */
bool bb_doc_block__has_column(const struct bb_doc_block *b, size_t column);
/* True if the column has a text in at least one row, and the table has room for the column when it
 * is rendered as text. */
bool bb_doc_block__shows_column(const struct bb_doc_block *b, size_t column,
				const struct bb_doc_look *look);
