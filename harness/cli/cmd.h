/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CMD_H
#define BB_CLI_CMD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * The commands. To add one: write cmd_NAME.c with a struct bb_usage and a bb_cmd_NAME(argc, argv)
 * that returns an exit code, declare it here, and add its row to bb_cmds[] in cmd.c.
 */
enum bb_exit {
	BB_EXIT_OK = 0,
	BB_EXIT_FAILURE = 1,
	BB_EXIT_USAGE = 2,
	BB_EXIT_REGRESSION = 3,
	BB_EXIT_UNSUPPORTED = 4,
};

struct bb_cmd {
	const char *name;
	const char *doc;
	int (*run)(int argc, char **argv); /* argv[0] is "bpfbench NAME" */
	/* It loads, watches or samples. The others give root's rights up before they look at
	 * anything. */
	bool needs_root;
};

extern const struct bb_cmd bb_cmds[];
extern const size_t bb_n_cmds;

int bb_cmd_run(int argc, char **argv);
int bb_cmd_show(int argc, char **argv);
int bb_cmd_report(int argc, char **argv);
int bb_cmd_annotate(int argc, char **argv);
int bb_cmd_list(int argc, char **argv);
int bb_cmd_history(int argc, char **argv);
int bb_cmd_check(int argc, char **argv);
int bb_cmd_compare(int argc, char **argv);
int bb_cmd_live(int argc, char **argv);
int bb_cmd_gate(int argc, char **argv);
int bb_cmd_selftest(int argc, char **argv);
int bb_cmd_init(int argc, char **argv);
int bb_cmd_profile(int argc, char **argv);
int bb_cmd_heap(int argc, char **argv);
int bb_cmd_triggers(int argc, char **argv);
int bb_cmd_capture(int argc, char **argv);

/* Run the command that argv names, or `run` if argv begins with an option. Returns the exit code.
 */
int bb_cmd_main(int argc, char **argv);

/* Print "bpfbench: MESSAGE" on stderr. Returns the exit code for the error: 4 for -ENOTSUP, else 1.
 * (Wrong usage never gets here: bb_usage_error() ends with 2.) */
int bb_complain(const struct bb_err *err);

/* Print one line about a wrong option or value, and end with exit code 2. */
void bb_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
