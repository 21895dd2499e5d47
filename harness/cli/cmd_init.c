/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/object_options.h"
#include "cli/paths.h"

struct init_args {
	struct bb_object_args object;
	const char *output;
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "write to this new file instead of stdout (-)", 0},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct init_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &a->object; break;
	case 'o': a->output = arg; break;
	case ARGP_KEY_ARG: bb_strings_add(&a->object.objects, arg, state); break;
	case ARGP_KEY_END:
		if (!a->object.objects.n)
			bb_usage_error(state, "for which object? bpfbench init prog.bpf.o");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&bb_object_argp, 0, "Programs and inputs:", 0}, {0}};

static const struct argp argp = {
	.options = options,
	.parser = parse,
	.args_doc = "[NAME=]FILE...",
	.doc = "Write a scenario for BPF objects, for you to edit: their programs, and the drives "
	       "that can make each type run.\v"
	       "`bpfbench --scenario` of this file measures the same as `bpfbench --object FILE`. "
	       "Comments in it list the contents of the object and the programs that no drive can "
	       "make run. Needs no root and loads nothing.",
	.children = children,
};

/* A new file, whole or not at all. */
static int write_new(const char *path, const char *text, struct bb_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666),
	    rc = fd < 0 ? -errno : 0;
	size_t len = strlen(text), at = 0;

	if (rc == -EEXIST)
		return bb_fail(err, rc,
			       "%s: this file exists, and init does not overwrite it; remove it, "
			       "or name another one with -o",
			       path);
	if (rc)
		return bb_fail(err, rc, "%s: %s", path, strerror(-rc));
	while (!rc && at < len) {
		ssize_t n = write(fd, text + at, len - at);

		if (n < 0 && errno != EINTR)
			rc = -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc)
		return 0;
	unlink(path);
	return bb_fail(err, rc, "%s: %s", path, strerror(-rc));
}

int bb_cmd_init(int argc, char **argv)
{
	struct bb_object_scenario text = {0};
	struct bb_scenario *scenario = NULL;
	struct init_args a = {0};
	struct bb_err err = {0};
	int rc;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	/* read back, so that it is known to work */
	rc = bb_object_args__scenario(&a.object, false, &text, &scenario, &err);
	if (!rc && a.output && strcmp(a.output, "-"))
		rc = write_new(a.output, text.text, &err);
	else if (!rc && (fputs(text.text, stdout) < 0 || fflush(stdout)))
		rc = bb_fail(&err, -errno, "stdout: %s", strerror(errno));
	bb_scenario__free(scenario);
	bb_object_scenario__done(&text);
	bb_object_args__done(&a.object);
	return rc ? bb_complain(&err) : BB_EXIT_OK;
}
