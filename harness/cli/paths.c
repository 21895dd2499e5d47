/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/io.h"
#include "base/parse.h"

#define YML ".yml"

/* In the tree: scenarios beside the program, and BB_BUILD_DIR, what O= was: a folder beside it, or
 * an absolute path. */
static int in_tree(const char *dir, struct bb_paths *p)
{
	const char *base = BB_BUILD_DIR[0] == '/' ? "" : dir,
		   *slash = BB_BUILD_DIR[0] == '/' ? "" : "/";

	return asprintf(&p->scenario_dir, "%s/scenarios", dir) < 0 ||
	       asprintf(&p->object_dir, "%s%s%s/bpf", base, slash, BB_BUILD_DIR) < 0 ||
	       asprintf(&p->workload_dir, "%s%s%s/workloads", base, slash, BB_BUILD_DIR) < 0 ||
	       asprintf(&p->plot_dir, "%s/plots", dir) < 0;
}

/* As `make install` puts it: the program in PREFIX/bin, wherever PREFIX has been moved to. */
static int installed(const char *prefix, struct bb_paths *p)
{
	return asprintf(&p->scenario_dir, "%s/share/bpfbench/scenarios", prefix) < 0 ||
	       asprintf(&p->object_dir, "%s/lib/bpfbench/bpf", prefix) < 0 ||
	       asprintf(&p->workload_dir, "%s/lib/bpfbench/workloads", prefix) < 0 ||
	       asprintf(&p->plot_dir, "%s/share/bpfbench/plots", prefix) < 0;
}

/* PREFIX when the folder of the program is PREFIX/bin and bpfbench's scenarios are there; NULL
 * otherwise. */
static char *prefix_of(const char *dir)
{
	const char *bin = strrchr(dir, '/');
	char *prefix, *share = NULL;

	if (!bin || strcmp(bin, "/bin"))
		return NULL;
	prefix = strndup(dir, (size_t)(bin - dir));
	if (prefix &&
	    (asprintf(&share, "%s/share/bpfbench/scenarios", prefix) < 0 || access(share, F_OK))) {
		free(prefix);
		prefix = NULL;
	}
	free(share);
	return prefix;
}

int bb_paths__find(struct bb_paths *ret_paths, struct bb_err *err)
{
	struct bb_paths p = {0};
	char *dir = bb_program_dir(), *prefix;
	int rc = 0;

	if (!dir)
		return bb_fail(err, -ENOENT, "cannot tell where bpfbench is; is /proc mounted?");
	prefix = prefix_of(dir);
	if (prefix ? installed(prefix, &p) : in_tree(dir, &p))
		rc = bb_fail_nomem(err);
	free(prefix);
	free(dir);
	if (!rc)
		*ret_paths = p;
	return rc;
}

void bb_paths__done(struct bb_paths *p)
{
	free(p->scenario_dir);
	free(p->object_dir);
	free(p->workload_dir);
	free(p->plot_dir);
	memset(p, 0, sizeof(*p));
}

static bool is_scenario_file(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > strlen(YML) && !strcmp(name + len - strlen(YML), YML);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int bb_scenario_names(const char *dir, char ***ret_names, size_t *ret_n, struct bb_err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char **names = NULL;
	size_t n = 0;

	if (!d) {
		int rc = -errno;

		return bb_fail(err, rc, "%s: %s", dir, strerror(-rc));
	}
	while ((e = readdir(d))) {
		char **name;

		if (!is_scenario_file(e->d_name))
			continue;
		name = bb_append(&names, &n, sizeof(*name));
		if (name)
			*name = strndup(e->d_name, strlen(e->d_name) - strlen(YML));
		if (!name || !*name) {
			closedir(d);
			bb_names_free(names, n);
			return bb_fail_nomem(err);
		}
	}
	closedir(d);
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	*ret_names = names;
	*ret_n = n;
	return 0;
}

void bb_names_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

static int say_unknown(const struct bb_paths *paths, const char *name, struct bb_err *err)
{
	char **names = NULL;
	const char *near;
	size_t n = 0;
	int rc = -ENOENT;

	bb_scenario_names(paths->scenario_dir, &names, &n, NULL);
	near = bb_nearest(name, (const char *const *)names, n);
	if (near)
		bb_fail(err, rc, "no scenario '%s' in %s; did you mean '%s'?", name,
			paths->scenario_dir, near);
	else
		bb_fail(err, rc,
			"no scenario '%s' in %s; `bpfbench list` shows those there are, and a path "
			"to a .yml file works too",
			name, paths->scenario_dir);
	bb_names_free(names, n);
	return rc;
}

int bb_scenario_find(const struct bb_paths *paths, const char *name,
		     struct bb_scenario **ret_scenario, struct bb_err *err)
{
	char *path = NULL;
	int rc;

	if (strchr(name, '/') || is_scenario_file(name))
		return bb_scenario__read(name, ret_scenario, err);
	if (asprintf(&path, "%s/%s" YML, paths->scenario_dir, name) < 0)
		return bb_fail_nomem(err);
	rc = access(path, F_OK) ? say_unknown(paths, name, err)
				: bb_scenario__read(path, ret_scenario, err);
	free(path);
	return rc;
}
