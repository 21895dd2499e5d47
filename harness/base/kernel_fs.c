/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/kernel_fs.h"

#include <glob.h>
#include <mntent.h>

#include "base/caller.h"
#include "base/parse.h"

const char *bb_tracepoint__folder(void)
{
	static const char *const places[] = {"/sys/kernel/tracing/events", "/sys/kernel/debug/"
									   "tracing/events"};

	return access(places[0], F_OK) ? places[1] : places[0];
}

bool bb_tracepoint__number(const char *name, unsigned long long *ret_id)
{
	uint64_t id = 0;

	if (strncmp(name, "id ", 3) || bb_parse_u64(name + 3, &id))
		return false;
	*ret_id = id;
	return true;
}

/* True if the name can be part of a pattern for glob(3): it has no special characters and at
 * most one '/'. */
static bool is_plain(const char *name)
{
	static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-/";
	const char *slash = strchr(name, '/');

	return *name && !name[strspn(name, bytes)] && (!slash || !strchr(slash + 1, '/'));
}

/* True if the first line of the file is the text `number`. */
static bool holds(const char *path, const char *number)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? strcspn(text, "\n") : 0] = '\0';
	return !strcmp(text, number);
}

bool bb_tracepoint__find(const char *name, char *ret_full, size_t size)
{
	const char *folder = bb_tracepoint__folder();
	unsigned long long id;
	char pattern[512], number[24] = "", *path = NULL;
	glob_t found = {0};

	if (bb_tracepoint__number(name, &id))
		snprintf(number, sizeof(number), "%llu", id);
	else if (!is_plain(name))
		return false;
	snprintf(pattern, sizeof(pattern), "%s/%s%s/id", folder,
		 *number || !strchr(name, '/') ? "*/" : "", *number ? "*" : name);
	bb_root__begin();
	glob(pattern, GLOB_NOSORT, NULL, &found);
	for (size_t i = 0; *number && !path && i < found.gl_pathc; i++)
		if (holds(found.gl_pathv[i], number))
			path = found.gl_pathv[i];
	if (!*number && found.gl_pathc == 1)
		path = found.gl_pathv[0];
	bb_root__end();
	if (path)
		snprintf(ret_full, size, "%.*s",
			 (int)(strlen(path) - strlen(folder) - strlen("/") - strlen("/id")),
			 path + strlen(folder) + 1);
	globfree(&found);
	return path != NULL;
}

bool bb_cgroup2__find(char *ret_path, size_t size)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (mounts && !found && (m = getmntent(mounts))) {
		found = !strcmp(m->mnt_type, "cgroup2");
		if (found)
			snprintf(ret_path, size, "%s", m->mnt_dir);
	}
	if (mounts)
		endmntent(mounts);
	return found;
}
