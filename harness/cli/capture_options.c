/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/capture_options.h"

#include <stdio.h>

#include "base/child.h"
#include "cli/cmd.h"
#include "cli/options.h"

#define DEFAULT_MIB 256

enum { KEY_FOR = 0x800, KEY_UNTIL_ATTACHED, KEY_UNTIL, KEY_NO_CONTENTS, KEY_MAX_CONTENTS };

static const struct argp_option options[] = {
	{"for", KEY_FOR, "SECONDS", 0, "capture for that time", 0},
	{"until-attached", KEY_UNTIL_ATTACHED, NULL, 0,
	 "capture until the command has attached programs and called bpf() no more for a second; 5 "
	 "s "
	 "where it attaches none (the default)",
	 0},
	{"until", KEY_UNTIL, "CMD", 0, "capture until this other command has ended (sh -c)", 0},
	{"no-contents", KEY_NO_CONTENTS, NULL, 0,
	 "leave out the contents of maps, which may be secret, but for constants and tail calls, "
	 "which programs depend on",
	 0},
	{"max-contents", KEY_MAX_CONTENTS, "MIB", 0,
	 "leave out the contents of maps beyond that size in all (default 256)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct bb_capture_args *a = state->input;

	switch (key) {
	case KEY_FOR: a->seconds = bb_option_double(state, "for", arg, 0.1, 86400); break;
	case KEY_UNTIL_ATTACHED: a->until_attached = true; break;
	case KEY_UNTIL: a->until = arg; break;
	case KEY_NO_CONTENTS: a->no_contents = true; break;
	case KEY_MAX_CONTENTS:
		a->max_mib = bb_option_u32(state, "max-contents", arg, 1, 1000);
		break;
	case ARGP_KEY_END:
		if ((a->seconds > 0) + (a->until != NULL) + a->until_attached > 1)
			bb_usage_error(state, "one of --for, --until and --until-attached");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp bb_capture_argp = {.options = options, .parser = parse};

bool bb_capture_args__any(const struct bb_capture_args *a)
{
	return a->seconds > 0 || a->until || a->until_attached || a->no_contents || a->max_mib;
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
