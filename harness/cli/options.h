/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_OPTIONS_H
#define BB_CLI_OPTIONS_H

#include "base/err.h"
#include "base/grow.h"
#include "base/std.h"

enum bb_exit {
	BB_EXIT_OK = 0,
	BB_EXIT_FAILURE = 1,
	BB_EXIT_USAGE = 2,
	BB_EXIT_REGRESSION = 3,
	BB_EXIT_UNSUPPORTED = 4,
};

/* Print "bpfbench: MESSAGE" on stderr: the exit code for the error: 4 for -ENOTSUP, else 1.
 * (Wrong usage never gets here: bb_usage_error() ends with 2.) */
int bb_complain(const struct bb_err *err);

/* Print "bpfbench: LINE" on stderr. */
void bb_say(const char *line);

/* Print one line about a wrong option or value, and end with exit code 2. */
void bb_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same, if the options are wrong. */
void bb_refuse(const char *text, bool is_wrong);

/* What the options of a command are, what each of them takes, and how a command is called: tables
 * from which the command line is parsed and the help is printed. */

struct bb_option;
typedef void bb_option_reader(const struct bb_option *o, const char *text, void *member);

struct bb_option {
	const char *name;
	char letter;       /* 's' of -s; 0: none */
	const char *value; /* "FILE" in the help; NULL: it takes none */
	/* Puts the value into the member at `at` of the command's arguments, or ends with a usage
	 * error. */
	bb_option_reader *read;
	size_t at;
	const char *doc;    /* NULL: not in the help, as a name that an option had before */
	double least, most; /* of a number */
	size_t given;       /* of a bool that becomes true, too; 0: none */
	bool optional;      /* the value may be left out; then `text` is NULL */
	/* what there is to choose from: rows that begin with their names */
	const void *rows;
	size_t n_rows, row_size;
};

#define BB_CHOICES(table)                                                                          \
	.rows = (table), .n_rows = sizeof(table) / sizeof((table)[0]),                             \
	.row_size = sizeof((table)[0])

/* To a list of argv's strings. Nobody frees it, so a command that has lists among its
 * arguments keeps these in static memory. */
void bb_strings__append(struct bb_strings *s, const char *text);

/* As bb_append() of base/grow.h; out of memory ends the program. */
void bb_out_of_memory(void) __attribute__((noreturn));
void *bb_option_append(void *v, size_t *n, size_t size);

/* Of a table of n rows of `size` bytes that begin with their names, the row of that name; a usage
 * error when there is none. */
const void *bb_option_choose(const char *what, const char *name, const void *rows, size_t n,
			     size_t size);

/* Values of bb_option.read, with the type of the member. */
bb_option_reader bb_read_flag;    /* bool */
bb_option_reader bb_read_text;    /* const char * */
bb_option_reader bb_read_once;    /* const char *; a usage error the second time */
bb_option_reader bb_read_strings; /* struct bb_strings */
bb_option_reader bb_read_env;     /* struct bb_strings; v ends in NULL: `also` of base/child.h */
bb_option_reader bb_read_u32, bb_read_u64, bb_read_double;
bb_option_reader bb_read_percent; /* double: "1" or "1%" is 0.01; from 0.001 to 1000 percent */
bb_option_reader bb_read_format;  /* const struct bb_exporter * */
bb_option_reader bb_read_row;     /* pointer to the row of that name, of BB_CHOICES(table) */
bb_option_reader bb_read_index;   /* int: its number */

/* Texts that several commands have. */
#define BB_RESULTS "results"
#define BB_RESULTS_DOC "folder with the stored runs (default " BB_RESULTS ")"
#define BB_OUTPUT_DOC "write to this file instead of stdout, whole or not at all"
#define BB_ENV_DOC "the command keeps this variable besides PATH, HOME, LANG and TERM (repeatable)"

#define BB_OPTION_SETS_MAX 8

struct bb_usage {
	const char *arguments;  /* "[OLD NEW]"; NULL */
	const char *doc, *more; /* before and behind the options in the help */
	const char *example;    /* a command line or more, each "  ...\n" */
	bool lists_formats;     /* the help lists those of --format */
	bool options_first;     /* what follows the first argument is not ours */
	struct {
		const char *title;               /* "What to measure:"; NULL */
		const struct bb_option *options; /* the last row has no name; NULL: no more sets */
		size_t at; /* of the struct that they go into, in the command's arguments */
	} sets[BB_OPTION_SETS_MAX];
	struct bb_option argument; /* how each is read; one without a reader: none is taken */
	/* Of a char **, for a command behind "--" and its arguments (of argv, ends in NULL); with
	 * options_first, "--" may be left out. 0: there is no such command. */
	size_t command;
	/* Ends with a usage error where options contradict each other; NULL. */
	void (*check)(void *args);
};

/* Parse the command line into the command's arguments, or print the help or what is wrong, and
 * exit. */
void bb_usage__parse(const struct bb_usage *usage, int argc, char **argv, void *args);

/* Which stored run is meant. */
#define BB_RUN_DOC                                                                                 \
	"RUN is a file, an id in the results folder, the beginning of one, or `latest` (the "      \
	"default)."

#endif
