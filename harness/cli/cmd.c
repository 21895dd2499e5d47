/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd.h"

#include <argp.h>

#include "base/caller.h"
#include "base/clean.h"

static const struct cmd {
	const char *name;
	bb_cmd *run;
	/* It loads, watches or samples. The others give root's rights up before they look at
	 * anything. */
	bool needs_root;
	const char *doc;
} cmds[] = {
	/* run comes first: it is the default */
	{"run", bb_cmd_run, true,
	 "measure a scenario or a BPF object (the default: `bpfbench --scenario S` is `bpfbench "
	 "run --scenario S`)"},
	{"capture", bb_cmd_capture, true,
	 "run a command of any language and copy the BPF programs that it loads"},
	{"init", bb_cmd_init, true, "write a scenario for a BPF object, for you to edit"},
	{"triggers", bb_cmd_triggers, true,
	 "list the triggers that make attached programs run, or those of an object's programs"},
	{"show", bb_cmd_show, false, "print a stored run in any format, without measuring"},
	{"report", bb_cmd_report, false,
	 "write one HTML page about stored runs: verdicts, history, flame graph, source"},
	{"annotate", bb_cmd_annotate, false,
	 "print the programs' source with the executions and instructions of each line (drive "
	 "exact)"},
	{"list", bb_cmd_list, false,
	 "list the scenarios with their variants and drives, and the stored runs"},
	{"history", bb_cmd_history, false,
	 "show each variant over all stored runs, and where it changed"},
	{"compare", bb_cmd_compare, true,
	 "compare two programs, measured in turns now, or two stored runs"},
	{"live", bb_cmd_live, true,
	 "watch the programs that are already loaded: runs, cost and CPU of each"},
	{"gate", bb_cmd_gate, true,
	 "compare the programs of two git revisions, and fail when one got slower"},
	{"selftest", bb_cmd_selftest, true,
	 "find the smallest difference that this machine can judge: programs against themselves"},
	{"profile", bb_cmd_profile, true,
	 "sample the stacks of a process, a command or the whole system"},
	{"heap", bb_cmd_heap, false,
	 "print heap totals of DHAT files (valgrind --tool=dhat) side by side, as a table or BMF"},
	{"check", bb_cmd_check, true,
	 "check this machine: its abilities, and the changes that would help"},
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
