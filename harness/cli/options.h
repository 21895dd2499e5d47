/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/std.h"

/* To add a command: write cmd_NAME.c with a struct bb_usage and a bb_cmd_NAME(), declare it here,
 * and add its row to the table in main.c. A command returns the exit code, or -errno with a
 * message. argv[0] is "bpfbench NAME". */
typedef int bb_cmd(int argc, char **argv, struct bb_err *err);

bb_cmd bb_cmd_run, bb_cmd_show, bb_cmd_report, bb_cmd_annotate, bb_cmd_list, bb_cmd_history,
	bb_cmd_check, bb_cmd_compare, bb_cmd_live, bb_cmd_gate, bb_cmd_selftest, bb_cmd_init,
	bb_cmd_profile, bb_cmd_heap, bb_cmd_maps, bb_cmd_triggers, bb_cmd_capture, bb_cmd_inside,
	bb_cmd_overhead, bb_cmd_schema, bb_cmd_vm;

/* Prints "bpfbench: MESSAGE" on stderr. Returns the exit code: 4 for -ENOTSUP, 1 for any other
 * error. */
int bb_complain(const struct bb_err *err);

/* Prints "bpfbench: LINE" on stderr. */
void bb_say(const char *line);
void bb_tell(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints one line about a wrong option or value and exits with code 2. */
void bb_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Calls bb_usage_error() with `text` if `is_wrong`. */
void bb_refuse(const char *text, bool is_wrong);

/* A command has tables of its options, which the parser of the command line and the help read. */
struct bb_option;

/* Stores the value `text` of option `o` in `member`, or exits with a usage error. */
typedef void bb_option_reader(const struct bb_option *o, const char *text, void *member);

struct bb_option {
	const char *name;
	char letter; /* 's' for -s; 0 means no short option */
	/* name of its value in the help, such as "FILE"; NULL if it takes none */
	const char *value;
	bb_option_reader *read;
	size_t at;          /* offset of the member in the command's arguments */
	const char *doc;    /* NULL hides the option in the help */
	double least, most; /* smallest and largest valid value, if the value is a number */
	/* offset of a bool that becomes true if the option is given; 0 if there is none */
	size_t given;
	bool optional; /* the value may be left out, and `text` is then NULL */
	/* table of the possible values, in which each row begins with its name */
	const void *rows;
	size_t n_rows, row_size;
};

/* A command defines ARGS as the struct of its arguments. */
#define BB_ARG_AT(member) offsetof(ARGS, member)
#define BB_ARG(member) .at = BB_ARG_AT(member)

#define BB_CHOICES(table) .rows = (table), .n_rows = BB_LEN(table), .row_size = sizeof((table)[0])

/* `text` must stay valid. Nobody frees the list, so a command keeps its arguments in static
 * memory. */
void bb_strings__append(struct bb_strings *s, const char *text);

/* Finds the row named `name` in a table of n rows. Each row has `size` bytes and begins with its
 * name. If there is no such row, exits with a usage error that calls a row `what`. */
const void *bb_option_choose(const char *what, const char *name, const void *rows, size_t n,
			     size_t size);

/* Readers for bb_option.read. The comment of each has the type of the member that it sets. */
bb_option_reader bb_read_flag;    /* bool */
bb_option_reader bb_read_text;    /* const char * */
bb_option_reader bb_read_once;    /* const char *; a second value is a usage error */
bb_option_reader bb_read_strings; /* struct bb_strings */
/* struct bb_strings: names of environment variables, with a NULL after the last */
bb_option_reader bb_read_env;
bb_option_reader bb_read_u32, bb_read_u64, bb_read_double;
/* double; "1" and "1%" mean 0.01; allowed are 0.001 to 1000 percent */
bb_option_reader bb_read_percent;
bb_option_reader bb_read_row;   /* pointer to a row of BB_CHOICES(table) */
bb_option_reader bb_read_index; /* int: index of a row of BB_CHOICES(table) */

#define BB_RESULTS "results"
#define BB_RESULTS_DOC "folder with the stored runs (default " BB_RESULTS ")"
#define BB_OUTPUT_DOC "write to this file instead of stdout, whole or not at all"
#define BB_ENV_DOC "the command keeps this variable besides PATH, HOME, LANG and TERM (repeatable)"
#define BB_RUN_DOC                                                                                 \
	"RUN is a file, an id in the results folder, the beginning of one, or `latest` (the "      \
	"default)."

#define BB_OPTION_SETS_MAX 8

struct bb_usage {
	/* the arguments in the help, such as "[OLD NEW]"; NULL means none */
	const char *arguments;
	const char *doc;     /* the beginning of the help */
	const char *example; /* command lines, each "  ...\n" */
	const char *more;    /* the end of the help, or NULL */
	bool lists_formats;  /* the help lists the formats of --format */
	bool options_first;  /* words after the first argument are not options of bpfbench */
	struct {
		/* title in the help, such as "What to measure:", or NULL */
		const char *title;
		const struct bb_option *options; /* ends with a row without a name */
		size_t at;                       /* offset of the struct that the options set */
	} sets[BB_OPTION_SETS_MAX];
	/* Reads each argument. If `read` is NULL, an argument is a usage error with `doc` as a
	 * hint. */
	struct bb_option argument;
	/* Offset of a char ** that receives the command and the arguments after "--", with a NULL
	 * at the end. With options_first, "--" may be left out. 0 means that no command is
	 * taken. */
	size_t command;
	/* Exits with a usage error if options contradict each other; may be NULL. */
	void (*check)(void *args);
};

/* Parses the command line into the command's arguments `args`. Exits after printing the help or a
 * usage error. */
void bb_usage__parse(const struct bb_usage *usage, int argc, char **argv, void *args);
