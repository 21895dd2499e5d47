/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <argp.h>
#include <locale.h>

#include "base/caller.h"
#include "base/clean.h"
#include "base/io.h"
#include "base/deadline.h"
#include "cli/options.h"
#include "drivers/driver.h"
#include "vm/guest.h"

static const struct cmd {
	const char *name;
	bb_cmd *run;
	/* True if the command may load, watch or sample programs. All other commands give up root's
	 * rights before they run. */
	bool needs_root;
	const char *doc; /* at most 67 characters, so that the help has 80 columns */
} cmds[] = {
	/* the default command comes first */
	{"run", bb_cmd_run, true, "measure a scenario or a BPF object (the default command)"},
	{"compare", bb_cmd_compare, true,
	 "compare two programs measured in turns, or two stored runs"},
	{"gate", bb_cmd_gate, true, "compare two git revisions; fail if a program got slower"},
	{"overhead", bb_cmd_overhead, true,
	 "run a workload with and without an agent: the CPU time it costs"},
	{"inside", bb_cmd_inside, true,
	 "run a command and show percentiles and paths of its programs"},
	{"live", bb_cmd_live, true, "watch the loaded programs: runs, cost and CPU of each"},
	{"capture", bb_cmd_capture, true, "run a command and copy the BPF programs that it loads"},
	{"maps", bb_cmd_maps, true, "write the contents of a loaded program's maps for a scenario"},
	{"show", bb_cmd_show, false, "print a stored run in any format, without measuring"},
	{"list", bb_cmd_list, false, "list the scenarios and the stored runs"},
	{"annotate", bb_cmd_annotate, false, "print the source with the cost of each line"},
	{"report", bb_cmd_report, false, "write one HTML page about stored runs"},
	{"history", bb_cmd_history, false,
	 "show each variant over all stored runs, and its changes"},
	{"init", bb_cmd_init, true, "write a scenario for a BPF object, for you to edit"},
	{"triggers", bb_cmd_triggers, true, "list the triggers that make attached programs run"},
	{"schema", bb_cmd_schema, false, "print the JSON schema of scenario files, for editors"},
	{"check", bb_cmd_check, true, "check this machine: its abilities, and what would help"},
	{"selftest", bb_cmd_selftest, true, "find the smallest difference that can be judged here"},
	{"vm", bb_cmd_vm, false,
	 "list, fetch, build and remove the kernels of --vm; a shell in one"},
	{"profile", bb_cmd_profile, true,
	 "sample the stacks of a process, a command or the system"},
	{"heap", bb_cmd_heap, false, "print heap totals of DHAT files (valgrind) side by side"},
};

/* Titles in the list of commands that --help prints. `first` is the command below the title. */
static const struct {
	const char *first, *title;
} groups[] = {
	{"run", "Measure"},        {"inside", "Programs of a running agent"},
	{"show", "Stored runs"},   {"init", "Scenarios"},
	{"check", "This machine"}, {"profile", "Processes and their memory"},
};

static void print_usual(FILE *out)
{
	fputs("Usage: bpfbench [COMMAND] [OPTION...]\n"
	      "Measure what one run of an eBPF program costs, and whether a change made it\n"
	      "slower.\n\n"
	      "  sudo bpfbench --object prog.bpf.o\n"
	      "      measure each program of a BPF object\n"
	      "  sudo bpfbench compare old.bpf.o new.bpf.o\n"
	      "      is the new program slower than the old one?\n"
	      "  bpfbench show latest\n"
	      "      print the newest stored run again\n\n",
	      out);
}

static void print_help(void)
{
	print_usual(stdout);
	puts("Commands (`bpfbench COMMAND --help` lists the options of each)");
	for (size_t i = 0; i < BB_LEN(cmds); i++) {
		for (size_t k = 0; k < BB_LEN(groups); k++)
			if (!strcmp(groups[k].first, cmds[i].name))
				printf("\n%s:\n", groups[k].title);
		printf("  %-10s %s\n", cmds[i].name, cmds[i].doc);
	}
	puts("\nOptions:\n"
	     "  --help     this help\n"
	     "  --version  the version\n\n"
	     "Exit codes: 0 success, 1 failure, 2 wrong usage, 3 regression found, 4 not\n"
	     "supported on this machine.");
}

static int run_cmd(const struct cmd *cmd, int argc, char **argv)
{
	static char name[64];
	struct bb_err err = {0};
	int rc = 0;

	if (!cmd->needs_root) {
		/* Some callers take death by SIGPIPE for success. So only commands that do not
		 * measure may die by it: a measurement whose output is lost has failed. */
		bb_clean__end_by_sigpipe();
		rc = bb_caller__become(&err);
	}
	snprintf(name, sizeof(name), "bpfbench %s", cmd->name);
	argv[0] = name;
	if (!rc)
		rc = cmd->run(argc, argv, &err);
	return rc < 0 ? bb_complain(&err) : rc;
}

static int choose_and_run(int argc, char **argv)
{
	argp_err_exit_status = BB_EXIT_USAGE;
	if (argc < 2) {
		print_usual(stderr);
		fputs("`bpfbench --help` lists all commands; `bpfbench check` checks this "
		      "machine.\n",
		      stderr);
		return BB_EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help();
		return BB_EXIT_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("bpfbench %s\n", BB_VERSION);
		return BB_EXIT_OK;
	}
	if (argv[1][0] == '-')
		return run_cmd(&cmds[0], argc, argv);
	return run_cmd(bb_option_choose("command", argv[1], cmds, BB_LEN(cmds), sizeof(cmds[0])),
		       argc - 1, argv + 1);
}

/* Opens /dev/null for each closed standard stream. Otherwise the next opened file would get the
 * number of that stream. Stdin is opened for writing, stdout and stderr for reading, so that their
 * normal use still fails. Returns false if /dev/null cannot be opened. */
static bool open_closed_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_WRONLY : O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return fd >= 0;
}

/* Called at exit. If stdout could not be written, exit code 0 becomes 1, with a message. */
static void check_stdout_at_exit(int status, void *)
{
	struct bb_err err;

	if (status == BB_EXIT_OK && bb_clean__check(stdout, "stdout", &err))
		_exit(bb_complain(&err));
}

int main(int argc, char **argv)
{
	struct bb_err err = {0};

	if (getpid() == 1 && argc == 2 && !strcmp(argv[1], "vm-guest"))
		bb_guest_run();
	int rc = bb_caller__own_files(&err); /* must come before any file is opened */
	if (!rc && !open_closed_streams())
		rc = bb_fail(&err, -errno, "/dev/null: %m");
	/* From here on no control character reaches the terminal (base/clean.h). */
	if (!rc) {
		bb_clean__std();
		if (on_exit(check_stdout_at_exit, NULL))
			bb_out_of_memory();
	}
	if (rc)
		return bb_complain(&err);
	/* LC_NUMERIC stays "C", so that all numbers are written with a decimal point */
	setlocale(LC_CTYPE, "");
	bb_stop__install(true);
	/* Remembers the program's folder, before own mounts may change /proc/self/exe. */
	free(bb_program_dir());
	bb_drivers__register();
	return choose_and_run(argc, argv);
}
