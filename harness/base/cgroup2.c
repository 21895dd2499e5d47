/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cgroup2.h"

#include <mntent.h>
#include <stdio.h>
#include <string.h>

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
