/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run/tree_build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/process.h"

#define LOG_LINES 30u
#define LOG_BYTES 3000u

bool bb_tree_has_makefile(const struct bb_repo *repo)
{
	static const char *const names[] = {"GNUmakefile", "makefile", "Makefile"};
	char path[PATH_MAX + 16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", repo->tree, names[i]);
		if (!access(path, F_OK))
			return true;
	}
	return false;
}

static int run(const struct bb_repo *repo, const char *const *argv, const char *const *env,
	       struct bb_process_end *ret_end, struct bb_err *err)
{
	const struct bb_process p = {.argv = argv,
				     .dir = repo->tree,
				     .together = true,
				     .uid = repo->uid,
				     .gid = repo->gid,
				     .env = env};

	return bb_process__run(&p, ret_end, err);
}

/* --- what make can make --- */

int bb_tree_find_targets(const struct bb_repo *repo, const char *const *env,
			 struct bb_built_objects *ret_targets, struct bb_err *err)
{
	/* Make prints its rules after a dry run of its default goal, those of patterns that it came
	 * across, too. A make that it starts would tell paths from another folder. */
	static const char list[] = "export LC_ALL=C; make -pnk MAKE=true 2>/dev/null | "
				   "grep -oE '^[A-Za-z0-9_./][A-Za-z0-9_./+-]*[.]o:'";
	const char *argv[] = {"sh", "-c", list, NULL};
	struct bb_built_objects targets = {0};
	struct bb_process_end end;
	char *line, *at;
	int rc = run(repo, argv, env, &end, err);

	if (rc)
		return rc;
	for (line = strtok_r(end.out, ":\n", &at); !rc && line; line = strtok_r(NULL, ":\n", &at))
		if (!bb_built_objects__name(&targets, line))
			rc = bb_fail_nomem(err);
	bb_process_end__done(&end);
	if (rc)
		bb_built_objects__done(&targets);
	else
		*ret_targets = targets;
	return rc;
}

/* --- the build --- */

/* The last lines of a log, as far as they have room in a message. */
static const char *log_end(const char *log)
{
	size_t len = strlen(log), at = len, lines = 0;

	while (at && len - at < LOG_BYTES &&
	       (log[at - 1] != '\n' || at == len || ++lines < LOG_LINES))
		at--;
	return log + at;
}

char *bb_tree_build__text(const struct bb_tree_build *b)
{
	char *text = strdup(b->command ? b->command : "make");

	for (size_t i = 0; text && !b->command && b->targets && b->targets[i]; i++) {
		char *before = text;

		if (asprintf(&text, "%s %s", before, b->targets[i]) < 0)
			text = NULL;
		free(before);
	}
	return text;
}

static int say_failed(const struct bb_tree_build *b, const struct bb_process_end *end,
		      const char *what, struct bb_err *err)
{
	char *text = bb_tree_build__text(b);

	if (!text)
		return bb_fail_nomem(err);
	bb_fail(err, -EBADE, "%s does not build: `%s` ended with %d; the end of its output:\n%s",
		what, text, end->status, log_end(end->out));
	free(text);
	return -EBADE;
}

int bb_tree_build__run(const struct bb_tree_build *b, const struct bb_repo *repo, const char *what,
		       bool *ret_whole, struct bb_err *err)
{
	size_t n = 0;
	struct bb_process_end end;
	const char **argv;
	int rc;

	if (!b->command && !bb_tree_has_makefile(repo))
		return bb_fail(err, -EBADE,
			       "%s has no Makefile at its top; name the command that makes its "
			       "objects: --build COMMAND",
			       what);
	while (!b->command && b->targets && b->targets[n])
		n++;
	argv = calloc(n + 4, sizeof(*argv));
	if (!argv)
		return bb_fail_nomem(err);
	argv[0] = b->command ? "sh" : "make";
	argv[1] = b->command ? "-c" : n ? "--" : NULL;
	argv[2] = b->command;
	for (size_t i = 0; i < n; i++)
		argv[2 + i] = b->targets[i];
	rc = run(repo, argv, b->env, &end, err);
	free(argv);
	if (rc)
		return rc;
	*ret_whole = end.was_whole;
	if (end.status)
		rc = say_failed(b, &end, what, err);
	bb_process_end__done(&end);
	return rc;
}
