/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A folder for one test. Setup makes it; teardown removes it with all that is in it. Include after
 * cmocka.h. */

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder;

static inline int make_folder(void **state)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/bb_test.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	folder = mkdtemp(path) ? strdup(path) : NULL;
	return folder ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	char command[PATH_MAX + 16];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	free(folder);
	return system(command);
}

/* Returns the path of a file in the folder, valid until the next call. */
static inline const char *in_folder(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

/* Returns the number of entries of a folder, without "." and "..". */
static inline int count_entries(const char *path)
{
	DIR *d = opendir(path);
	int n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}
