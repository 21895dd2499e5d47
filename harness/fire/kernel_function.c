/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/kernel_function.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/caller.h"
#include "base/grow.h"
#include "base/io.h"
#include "bpf/prog_type.h"
#include "bpf/attach.h"

#define MOST 4096u /* functions of a pattern: the kernel patches each */

static FILE *open_list(void)
{
	FILE *list;

	bb_root__begin();
	list = fopen("/sys/kernel/tracing/available_filter_functions", "re");
	if (!list)
		list = fopen("/sys/kernel/debug/tracing/available_filter_functions", "re");
	bb_root__end();
	return list;
}

static int add(struct bb_kernel_functions *f, const char *name)
{
	char **to = bb_append(&f->names, &f->n, sizeof(*to));

	if (!to)
		return -ENOMEM;
	*to = strdup(name);
	return *to ? 0 : -ENOMEM;
}

/* The kernel takes each name once. */
static void drop_doubles(struct bb_kernel_functions *f)
{
	size_t kept = 0;

	qsort(f->names, f->n, sizeof(f->names[0]), bb_by_text);
	for (size_t i = 0; i < f->n; i++) {
		if (kept && !strcmp(f->names[kept - 1], f->names[i]))
			free(f->names[i]);
		else
			f->names[kept++] = f->names[i];
	}
	f->n = kept;
}

/* "vfs_read", or "vfs_read [module]" */
static int read_list(FILE *list, const char *pattern, struct bb_kernel_functions *f)
{
	char line[512];
	int rc = 0;

	while (!rc && f->n <= MOST && fgets(line, sizeof(line), list)) {
		line[strcspn(line, " \t\n")] = '\0';
		if (strncmp(line, "__ftrace_invalid_address__", 26) && !fnmatch(pattern, line, 0))
			rc = add(f, line);
	}
	return rc;
}

static int match(const char *pattern, struct bb_kernel_functions *f, struct bb_err *err)
{
	FILE *list;
	int rc = bb_tracefs__provide(err);

	if (rc)
		return bb_fail(err, -ENOTSUP, "%s", err ? err->msg : "");
	list = open_list();
	if (!list)
		return bb_fail(err, -ENOTSUP,
			       "tracefs: available_filter_functions: %s; a name instead of the "
			       "pattern '%s' does without",
			       strerror(errno), pattern);
	rc = read_list(list, pattern, f);
	fclose(list);
	if (rc)
		return bb_fail_nomem(err);
	if (f->n > MOST)
		return bb_fail(err, -ENOTSUP, "more than %u functions of this kernel are '%s'",
			       MOST, pattern);
	drop_doubles(f);
	return f->n ? 0
		    : bb_fail(err, -ENOTSUP,
			      "no function of this kernel that can be followed is '%s'", pattern);
}

int bb_kernel_functions__find(const char *pattern, struct bb_kernel_functions *ret_functions,
			      struct bb_err *err)
{
	struct bb_kernel_functions f = {0};
	bool is_pattern = pattern[strcspn(pattern, "*?[")];
	int rc = is_pattern ? match(pattern, &f, err) : add(&f, pattern);

	if (rc)
		bb_kernel_functions__done(&f);
	else
		*ret_functions = f;
	return rc == -ENOMEM ? bb_fail_nomem(err) : rc;
}

void bb_kernel_functions__done(struct bb_kernel_functions *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct bb_kernel_functions){0};
}

int bb_kernel_function__say_missing(const char *name, struct bb_err *err)
{
	char near[128];

	if (!bb_kernel_name__nearest(BB_NAME_OF_FUNCTION, name, near, sizeof(near)))
		return bb_fail(err, -ENOTSUP, "this kernel has no function '%s' to probe", name);
	if (!strcmp(near, name))
		return bb_fail(err, -ENOTSUP, "this kernel has '%s', but lets nobody probe it",
			       name);
	return bb_fail(err, -ENOTSUP,
		       "this kernel has no function '%s' to probe; did you mean '%s'?", name, near);
}
