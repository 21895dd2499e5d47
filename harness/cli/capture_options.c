/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/capture_options.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/child.h"
#include "bpf/tracefs.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "plan/field.h"

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

void bb_capture_provide_tracefs(void)
{
	struct bb_err err = {0};

	if (bb_tracefs__provide(&err))
		fprintf(stderr, "bpfbench: a loader that looks up tracepoints may fail: %s\n",
			err.msg);
}

/* Programs that have an event, and were put on none: the command failed, or had not come to it. */
static void say_not_attached(const struct bb_capture *c)
{
	const struct bb_captured_attachment **places = bb_capture__places(c);
	const char **names = calloc(c->n_progs + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; places && names && i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];

		if (!places[i] && bb_captured_prog__is_measured(p) && !*p->attach_name &&
		    (p->type == BPF_PROG_TYPE_KPROBE || p->type == BPF_PROG_TYPE_TRACEPOINT ||
		     p->type == BPF_PROG_TYPE_RAW_TRACEPOINT))
			names[n++] = p->name;
	}
	if (n)
		fprintf(stderr,
			"bpfbench: the command attached %zu program%s to no event (%s); they are "
			"measured on events that bpfbench makes\n",
			n, n == 1 ? "" : "s", bb_phrase__join(names, n).text);
	free(names);
	free(places);
}

int bb_capture_args__run(const struct bb_capture_args *a, const char *const *argv, bool leaves,
			 bool interrupt_ends, struct bb_capture **ret_capture, struct bb_err *err)
{
	struct bb_capture_opts opts = bb_capture_args__opts(a, argv);
	struct bb_capture_facts facts = {0};
	int rc;

	opts.leaves = leaves;
	opts.interrupt_ends = interrupt_ends;
	bb_capture_provide_tracefs();
	rc = bb_capture_command(&opts, ret_capture, &facts, err);
	if (rc)
		return rc;
	if (facts.ended && facts.status)
		fprintf(stderr, "bpfbench: the command %s\n", bb_how_ended(facts.status).text);
	fprintf(stderr,
		"bpfbench: captured %zu program%s in %.1f s; looking at %zu of the command's "
		"system "
		"calls delayed each by %.0f us\n",
		(*ret_capture)->n_progs, (*ret_capture)->n_progs == 1 ? "" : "s", facts.seconds,
		facts.n_calls, facts.us_a_call);
	say_not_attached(*ret_capture);
	return 0;
}
