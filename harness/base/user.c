/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/parse.h"

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

/* It maps all of 0..2^32-2 to itself. A kernel without namespaces has no such file. */
bool bb_user__is_initial_namespace(void)
{
	static const uint64_t expected[] = {0, 0, UINT32_MAX};
	bool is_same = true;
	const char *at;
	uint64_t number;
	char *text;
	size_t len;

	if (bb_read_proc("/proc/self/uid_map", 4096, &text, &len, NULL))
		return true;
	at = text;
	for (size_t i = 0; is_same && i < sizeof(expected) / sizeof(expected[0]); i++) {
		at += strspn(at, " \t");
		is_same = !bb_parse_digits(&at, &number) && number == expected[i];
	}
	free(text);
	return is_same;
}
