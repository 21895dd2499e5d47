/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "base/caller.h"
#include "base/clean.h"

static const struct cmd {
	const char *name;
	const char *doc;
	bb_cmd *run;
	/* It loads, watches or samples. The others give root's rights up before they look at
	 * anything. */
	bool needs_root;
} cmds[] = {
	/* run comes first: it is the default */
	{"run",
	 "measure a scenario or a BPF object (the default: `bpfbench --scenario S` is `bpfbench "
	 "run --scenario S`)",
	 bb_cmd_run, true},
	{"capture", "run a command of any language and copy the BPF programs that it loads",
	 bb_cmd_capture, true},
	{"init", "write a scenario for a BPF object, for you to edit", bb_cmd_init, true},
	{"triggers",
	 "list the triggers that make attached programs run, or those of an object's programs",
	 bb_cmd_triggers, true},
	{"show", "print a stored run in any format, without measuring", bb_cmd_show, false},
	{"report", "write one HTML page about stored runs: verdicts, history, flame graph, source",
	 bb_cmd_report, false},
	{"annotate",
	 "print the programs' source with the executions and instructions of each line (drive "
	 "exact)",
	 bb_cmd_annotate, false},
	{"list", "list the scenarios with their variants and drives, and the stored runs",
	 bb_cmd_list, false},
	{"history", "show each variant over all stored runs, and where it changed", bb_cmd_history,
	 false},
	{"compare", "compare two programs, measured in turns now, or two stored runs",
	 bb_cmd_compare, true},
	{"live", "watch the programs that are already loaded: runs, cost and CPU of each",
	 bb_cmd_live, true},
	{"gate", "compare the programs of two git revisions, and fail when one got slower",
	 bb_cmd_gate, true},
	{"selftest",
	 "find the smallest difference that this machine can judge: programs against themselves",
	 bb_cmd_selftest, true},
	{"profile", "sample the stacks of a process, a command or the whole system", bb_cmd_profile,
	 true},
	{"heap",
	 "print heap totals of DHAT files (valgrind --tool=dhat) side by side, as a table or BMF",
	 bb_cmd_heap, false},
	{"check", "check this machine: its abilities, and the changes that would help",
	 bb_cmd_check, true},
};

#define N_CMDS (sizeof(cmds) / sizeof(cmds[0]))

static void print_help(FILE *out)
{
	fputs("Usage: bpfbench [COMMAND] [OPTION...]\n"
	      "Benchmark eBPF programs: the cost of one run, and whether a change made it "
	      "slower.\n\n"
	      "  sudo bpfbench --scenario perf_profiler        measure; Bencher Metric Format on "
	      "stdout\n"
	      "  sudo bpfbench --object prog.bpf.o             measure the programs of any BPF "
	      "object\n"
	      "  bpfbench show latest --format table           look at a stored run again\n\n"
	      "Commands (`bpfbench COMMAND --help` lists the options of each):\n",
	      out);
	for (size_t i = 0; i < N_CMDS; i++)
		fprintf(out, "  %-10s %s\n", cmds[i].name, cmds[i].doc);
	fputs("\nOptions:\n"
	      "  --help     this help\n"
	      "  --version  the version\n\n"
	      "Exit codes: 0 ok, 1 failure, 2 usage, 3 regression found, 4 nothing here is "
	      "supported.\n",
	      out);
}

static int run_cmd(const struct cmd *cmd, int argc, char **argv)
{
	static char name[64];
	struct bb_err err = {0};
	int rc = 0;

	if (!cmd->needs_root) {
		/* a job that measures must fail, and some take a signal for a success */
		bb_clean__end_by_sigpipe();
		rc = bb_caller__become(&err);
	}
	snprintf(name, sizeof(name), "bpfbench %s", cmd->name);
	argv[0] = name;
	if (!rc)
		rc = cmd->run(argc, argv, &err);
	return rc < 0 ? bb_complain(&err) : rc;
}

int bb_cmd_main(int argc, char **argv)
{
	argp_err_exit_status = BB_EXIT_USAGE;
	if (argc < 2) {
		print_help(stderr);
		return BB_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return BB_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("bpfbench %s\n", BB_VERSION);
		return BB_EXIT_OK;
	}
	if (argv[1][0] == '-')
		return run_cmd(&cmds[0], argc, argv);
	return run_cmd(bb_option_choose("command", argv[1], cmds, N_CMDS, sizeof(cmds[0])),
		       argc - 1, argv + 1);
}
