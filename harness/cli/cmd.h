/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CMD_H
#define BB_CLI_CMD_H

#include <stdbool.h>

#include "base/err.h"

/*
 * The commands. To add one: write cmd_NAME.c with a struct bb_usage and a bb_cmd_NAME(), declare it
 * here, and add its row to the table in cmd.c.
 */
enum bb_exit {
	BB_EXIT_OK = 0,
	BB_EXIT_FAILURE = 1,
	BB_EXIT_USAGE = 2,
	BB_EXIT_REGRESSION = 3,
	BB_EXIT_UNSUPPORTED = 4,
};

/* The exit code, or -errno with a message. argv[0] is "bpfbench NAME". */
typedef int bb_cmd(int argc, char **argv, struct bb_err *err);

bb_cmd bb_cmd_run, bb_cmd_show, bb_cmd_report, bb_cmd_annotate, bb_cmd_list, bb_cmd_history,
	bb_cmd_check, bb_cmd_compare, bb_cmd_live, bb_cmd_gate, bb_cmd_selftest, bb_cmd_init,
	bb_cmd_profile, bb_cmd_heap, bb_cmd_triggers, bb_cmd_capture;

/* Run the command that argv names, or `run` if argv begins with an option: the exit code. */
int bb_cmd_main(int argc, char **argv);

/* Print "bpfbench: MESSAGE" on stderr: the exit code for the error: 4 for -ENOTSUP, else 1.
 * (Wrong usage never gets here: bb_usage_error() ends with 2.) */
int bb_complain(const struct bb_err *err);

/* Print "bpfbench: LINE" on stderr. */
void bb_say(const char *line);

/* Print one line about a wrong option or value, and end with exit code 2. */
void bb_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same, if the options are wrong. */
void bb_refuse(const char *text, bool is_wrong);

#endif
