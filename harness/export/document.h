/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* The text that a command prints for people: titles, paragraphs, items of lists, and tables. A
 * document is made once and rendered as text, as Markdown or as HTML. The code that makes it
 * decides on the columns of a table and on the words of a note. Texts may come from untrusted
 * files. Each renderer escapes what a terminal, Markdown or a browser would interpret. */
enum bb_doc_kind {
	BB_DOC_HEADLINE,  /* title of the whole document; Markdown "##" */
	BB_DOC_TITLE,     /* title of a section; Markdown "###" */
	BB_DOC_PARAGRAPH, /* a paragraph: "label: text" */
	BB_DOC_FAINT,     /* a paragraph of secondary importance */
	BB_DOC_CLOSING,   /* a line that closes a table; an empty line precedes it */
	BB_DOC_BAD,       /* a warning in a paragraph */
	BB_DOC_ITEM,      /* item of a list: "label: text" */
	BB_DOC_BAD_ITEM,
	BB_DOC_SUBITEM, /* part of the item before it */
	BB_DOC_CODE,    /* a line of source as an item */
	BB_DOC_TABLE,
	BB_DOC_LEGEND, /* explains the columns of all tables before it; in HTML, each column's head
			  shows its explanation instead */
	/* in HTML, all blocks up to BB_DOC_FOLD_END are folded away below this text */
	BB_DOC_FOLD,
	BB_DOC_FOLD_END,
};

enum bb_doc_cells {
	BB_CELLS_NUMBER,  /* aligned to the right */
	BB_CELLS_TEXT,    /* aligned to the left */
	BB_CELLS_VERDICT, /* coloured by the first word */
	BB_CELLS_CODE,    /* a line of source, which keeps its indentation */
};

#define BB_DOC_BELOW 100   /* a value of `spill`: in text, the column is always below the table */
#define BB_DOC_LAST_DROP 3 /* the largest value of `drop` */

/* A column is not shown if its cells are empty in all rows. */
struct bb_doc_column {
	const char *head;
	enum bb_doc_cells cells;
	/* the order in which columns move below a table that is too wide; 1 moves first, 0 never */
	int spill;
	/* the order in which columns are left out of a table that is still too wide; 1 is left out
	 * first, 0 never */
	int drop;
	bool once;  /* only for the first column: on a terminal, a cell is left empty if it repeats
		       the one above */
	bool close; /* in text, one blank separates the column from the one before, instead of
		       two */
	const char *doc; /* explanation of the column; NULL: none is needed */
};

#define BB_NUMBER(name) .head = (name), .cells = BB_CELLS_NUMBER
#define BB_TEXT(name) .head = (name), .cells = BB_CELLS_TEXT
#define BB_VERDICT(name) .head = (name), .cells = BB_CELLS_VERDICT
#define BB_CODE(name) .head = (name), .cells = BB_CELLS_CODE

/* The text of a cell, which functions return by value (export/table_cells.h). */
struct bb_table_cell {
	char text[160]; /* UTF-8; empty: no figure */
};

struct bb_doc_cell {
	char *text; /* NULL: the figure is missing, and "-" is shown */
	bool faint;
};

struct bb_doc_block {
	enum bb_doc_kind kind;
	char *label, *text;            /* NULL: the block has none */
	struct bb_doc_column *columns; /* columns[n_columns]; their texts belong to the caller */
	size_t n_columns;
	struct bb_doc_cell *cells; /* row by row */
	size_t n_cells;
};

struct bb_doc {
	struct bb_doc_block *blocks;
	size_t n;
	bool faint; /* cells that are added from now on are of secondary importance */
};

/* Adds a block with a text made of `fmt`. `label` NULL: none. */
void bb_doc__add(struct bb_doc *d, enum bb_doc_kind kind, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds to the text of the last block. */
void bb_doc__append(struct bb_doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds a table with columns[n] and no rows. More columns may be added before the first cell.
 * Cells are added row by row; after the last column a new row begins. */
void bb_doc__table(struct bb_doc *d, const struct bb_doc_column *columns, size_t n);
void bb_doc__column(struct bb_doc *d, struct bb_doc_column column);
#define bb_doc__cell(d, ...) bb_doc__cell_if(d, true, __VA_ARGS__)
/* If `has` is false, the figure is missing. */
void bb_doc__cell_if(struct bb_doc *d, bool has, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void bb_doc__text_cell(struct bb_doc *d, const char *text); /* NULL: the figure is missing */
void bb_doc__table_cell(struct bb_doc *d,
			struct bb_table_cell cell); /* empty: the figure is missing */
/* `scale` sets the decimals (export/table_cells.h). NAN: the figure is missing. */
void bb_doc__number_cell(struct bb_doc *d, double value, double scale);

/* Removes block n and all blocks after it. */
void bb_doc__cut(struct bb_doc *d, size_t n);
void bb_doc__done(struct bb_doc *d);

/* How text looks on a terminal or in a file. */
struct bb_doc_look {
	size_t width; /* characters in a line */
	bool wrap;    /* paragraphs and long cells are broken into lines of at most `width` */
	bool terse; /* lines of source that are too wide are cut and end in "…"; repeated names are
		       left out */
	bool colour; /* colours may be written; the output must be a stream of base/clean.h */
};

extern const struct bb_doc_look bb_doc_plain_look; /* the look in files and pipes */

/* Render the whole document. */
void bb_doc__text(const struct bb_doc *d, const struct bb_doc_look *look, FILE *out);
void bb_doc__markdown(const struct bb_doc *d, FILE *out);
void bb_doc__html(const struct bb_doc *d, FILE *out);

/* Writes a text so that Markdown shows it unchanged. The text does not end a table's cell, begin
 * markup, mention a user, refer to an issue or commit, or become a link. NULL: writes nothing. */
void bb_md_text(const char *text, FILE *out);

/* True if any row of the table has a text in that column. */
bool bb_doc_block__has_column(const struct bb_doc_block *b, size_t column);
