/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

int bb_become_user(uid_t uid, gid_t gid)
{
	struct passwd *user;

	if (geteuid() != 0 || uid == 0)
		return 0;
	user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) : setgroups(0, NULL))
		return -errno;
	if (setgid(gid) || setuid(uid))
		return -errno;
	return 0;
}
