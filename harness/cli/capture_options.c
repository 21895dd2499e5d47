/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/capture_options.h"

#include "base/child.h"
#include "bpf/attach.h"
#include "plan/field.h"

#define ARGS struct bb_capture_args

const struct bb_option bb_capture_options[] = {
	{"for", 0, "SECONDS", bb_read_double, BB_ARG(opts.seconds), "capture for that time", 0.1,
	 86400},
	{"until-attached", 0, NULL, bb_read_flag, BB_ARG(until_attached),
	 "capture until the command has attached programs and called bpf() no more for a second; 5 "
	 "s where it attaches none (the default)"},
	{"until", 0, "CMD", bb_read_text, BB_ARG(opts.until_command),
	 "capture until this other command has ended (sh -c)"},
	{"no-contents", 0, NULL, bb_read_flag, BB_ARG(no_contents),
	 "leave out the contents of maps, which may be secret; constants and tail calls, which "
	 "programs depend on, are kept"},
	{"max-contents", 0, "MIB", bb_read_u32, BB_ARG(max_mib),
	 "leave out the contents of maps beyond that size in all (default 256)", 1, 1000},
	{0},
};

void bb_capture_args__check(struct bb_capture_args *a, bool captures)
{
	struct bb_capture_opts *o = &a->opts;
	int n_ends = (o->seconds > 0) + (o->until_command != NULL) + a->until_attached;

	bb_refuse("--for, --until and contents are for --capture",
		  !captures && (n_ends || a->no_contents || a->max_mib));
	bb_refuse("one of --for, --until and --until-attached", n_ends > 1);
	o->until = o->until_command ? BB_CAPTURE_UNTIL_COMMAND
		   : o->seconds > 0 ? BB_CAPTURE_UNTIL_TIME
				    : BB_CAPTURE_UNTIL_ATTACHED;
	if (!a->no_contents)
		o->max_bytes = (size_t)(a->max_mib ? a->max_mib : BB_CAPTURE_MIB) << 20;
	o->say = bb_say;
}

void bb_capture_provide_tracefs(void)
{
	struct bb_err err = {0};

	if (bb_tracefs__provide(&err))
		bb_tell("a loader that looks up tracepoints may fail: %s", err.msg);
}

int bb_capture_and_say(const struct bb_capture_opts *opts, bool details,
		       struct bb_capture **ret_capture, struct bb_err *err)
{
	struct bb_capture_facts facts = {0};
	size_t n_measured, n = 0;

	bb_capture_provide_tracefs();
	int rc = bb_capture_command(opts, ret_capture, &facts, err);
	if (rc)
		return rc;
	if (facts.ended && facts.status)
		bb_tell("the command %s", bb_how_ended(facts.status).text);
	const struct bb_capture *c = *ret_capture;
	n_measured = BB_SUM(c->progs, c->n_progs, bb_captured_prog__is_measured(it));
	if (details)
		bb_tell("captured %zu program%s in %.1f s, which delayed %zu of the command's "
			"system calls by %.0f us each",
			c->n_progs, bb_plural(c->n_progs), facts.seconds, facts.n_calls,
			facts.us_a_call);
	else
		bb_tell("captured %zu program%s in %.1f s; %zu other loads only tried out the "
			"kernel",
			n_measured, bb_plural(n_measured), facts.seconds, c->n_progs - n_measured);
	const struct bb_captured_attachment **places = bb_capture__any_attachments(c);
	const char **names = bb_calloc(c->n_progs + 1, sizeof(*names));
	for (size_t i = 0; i < c->n_progs; i++) {
		const struct bb_captured_prog *p = &c->progs[i];

		if (!places[i] && bb_captured_prog__is_measured(p) && !*p->attach_name &&
		    (p->type == BPF_PROG_TYPE_KPROBE || p->type == BPF_PROG_TYPE_TRACEPOINT ||
		     p->type == BPF_PROG_TYPE_RAW_TRACEPOINT))
			names[n++] = p->name;
	}
	if (n)
		bb_tell("the command attached %zu program%s to no event (%s); bpfbench measures %s "
			"on events of its own",
			n, bb_plural(n), bb_phrase__join(names, n).text, n == 1 ? "it" : "them");
	free(names);
	free(places);
	return 0;
}

void bb_capture_name(const char *program, char *ret_name, size_t size)
{
	/* length of the first word of a shell command */
	size_t len = strcspn(program, " \t\n;|&<>()");
	const char *slash = memrchr(program, '/', len), *base = slash ? slash + 1 : program;
	char name[BB_NAME_MAX_BYTES + 2];

	bb_name_from(base, len - (size_t)(base - program), name);
	snprintf(ret_name, size, "%s", *name ? name : "command");
}
