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

bool bb_tracepoint__find(const char *name, char *ret_full, size_t size)
{
	static const char bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-/";
	const char *folder = bb_tracepoint__folder(), *slash = strchr(name, '/');
	unsigned long long id;
	bool by_number = bb_tracepoint__number(name, &id);
	char pattern[512], *path = NULL;
	glob_t found = {0};
	uint64_t its_id;

	/* A name has no special characters of glob(3) and at most one '/'. */
	if (!by_number &&
	    (!*name || name[strspn(name, bytes)] || (slash && strchr(slash + 1, '/'))))
		return false;
	snprintf(pattern, sizeof(pattern), "%s/%s%s/id", folder, by_number || !slash ? "*/" : "",
		 by_number ? "*" : name);
	bb_root__begin();
	glob(pattern, GLOB_NOSORT, NULL, &found);
	bb_root__end();
	for (size_t i = 0; by_number && !path && i < found.gl_pathc; i++)
		if (!bb_root__read_u64(found.gl_pathv[i], &its_id) && its_id == id)
			path = found.gl_pathv[i];
	if (!by_number && found.gl_pathc == 1)
		path = found.gl_pathv[0];
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
