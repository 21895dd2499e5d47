/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/capture_options.h"

#include <stdio.h>

#include "base/child.h"
#include "cli/cmd.h"
#include "cli/options.h"

#define DEFAULT_MIB 256

#define AT(member) offsetof(struct bb_capture_args, member)
#define TO(member) .at = AT(member)

const struct bb_option bb_capture_options[] = {
	{"for", 0, "SECONDS", "capture for that time", bb_read_double, TO(seconds), 0.1, 86400},
	{"until-attached", 0, NULL,
	 "capture until the command has attached programs and called bpf() no more for a second; "
	 "5 s where it attaches none (the default)",
	 bb_read_flag, TO(until_attached)},
	{"until", 0, "CMD", "capture until this other command has ended (sh -c)", bb_read_text,
	 TO(until)},
	{"no-contents", 0, NULL,
	 "leave out the contents of maps, which may be secret; constants and tail calls, which "
	 "programs depend on, are kept",
	 bb_read_flag, TO(no_contents)},
	{"max-contents", 0, "MIB",
	 "leave out the contents of maps beyond that size in all (default 256)", bb_read_u32,
	 TO(max_mib), 1, 1000},
	{0},
};

void bb_capture_args__check(const struct bb_capture_args *a, bool captures)
{
	if (!captures &&
	    (a->seconds > 0 || a->until || a->until_attached || a->no_contents || a->max_mib))
		bb_usage_error("--for, --until and contents are for --capture");
	if ((a->seconds > 0) + (a->until != NULL) + a->until_attached > 1)
		bb_usage_error("one of --for, --until and --until-attached");
}

static void say(const char *line)
{
	fprintf(stderr, "bpfbench: %s\n", line);
}

struct bb_capture_opts bb_capture_args__opts(const struct bb_capture_args *a,
					     const char *const *argv)
{
	return (struct bb_capture_opts){
		.argv = argv,
		.env = a->env,
		.until = a->until         ? BB_CAPTURE_UNTIL_COMMAND
			 : a->seconds > 0 ? BB_CAPTURE_UNTIL_TIME
					  : BB_CAPTURE_UNTIL_ATTACHED,
		.seconds = a->seconds,
		.budget_s = a->budget_s,
		.until_command = a->until,
		.max_bytes = a->no_contents ? 0
					    : (size_t)(a->max_mib ? a->max_mib : DEFAULT_MIB) << 20,
		.say = say,
	};
}

int bb_capture_args__run(const struct bb_capture_args *a, const char *const *argv, bool leaves,
			 bool interrupt_ends, struct bb_capture **ret_capture, struct bb_err *err)
{
	struct bb_capture_opts opts = bb_capture_args__opts(a, argv);
	struct bb_capture_facts facts = {0};
	int rc;

	opts.leaves = leaves;
	opts.interrupt_ends = interrupt_ends;
	rc = bb_capture_command(&opts, ret_capture, &facts, err);
	if (rc)
		return rc;
	if (facts.ended && facts.status)
		fprintf(stderr, "bpfbench: the command %s\n", bb_how_ended(facts.status).text);
	fprintf(stderr,
		"bpfbench: %zu programs captured in %.1f s; each of its %zu calls waited %.0f us "
		"for it\n",
		(*ret_capture)->n_progs, facts.seconds, facts.n_calls, facts.us_a_call);
	return 0;
}
