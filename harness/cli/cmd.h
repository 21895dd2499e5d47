/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_CLI_CMD_H
#define BB_CLI_CMD_H

#include "cli/options.h"

/*
 * The commands. To add one: write cmd_NAME.c with a struct bb_usage and a bb_cmd_NAME(), declare it
 * here, and add its row to the table in cmd.c. It returns the exit code, or -errno with a message;
 * argv[0] is "bpfbench NAME".
 */
typedef int bb_cmd(int argc, char **argv, struct bb_err *err);

bb_cmd bb_cmd_run, bb_cmd_show, bb_cmd_report, bb_cmd_annotate, bb_cmd_list, bb_cmd_history,
	bb_cmd_check, bb_cmd_compare, bb_cmd_live, bb_cmd_gate, bb_cmd_selftest, bb_cmd_init,
	bb_cmd_profile, bb_cmd_heap, bb_cmd_triggers, bb_cmd_capture;

/* Run the command that argv names, or `run` if argv begins with an option: the exit code. */
int bb_cmd_main(int argc, char **argv);

#endif
