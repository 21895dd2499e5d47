/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/caller.h"

#include <grp.h>
#include <pwd.h>
#include <sys/fsuid.h>

#include "base/io.h"
#include "base/parse.h"

/* The user id with which this process opens files outside bb_root__begin() and bb_root__end(). If
 * root is the caller, or if the process has become the caller, it is 0 and these calls do
 * nothing. */
static uid_t file_uid;

static bool id_from(const char *variable, uint64_t *ret_id)
{
	const char *text = getenv(variable);

	return text && !bb_parse_u64(text, ret_id) && *ret_id < UINT32_MAX;
}

void bb_caller(uid_t *ret_uid, gid_t *ret_gid)
{
	uint64_t uid, gid;

	*ret_uid = geteuid();
	*ret_gid = getegid();
	if (*ret_uid != 0)
		return;
	if (getuid() != 0) {
		*ret_uid = getuid();
		*ret_gid = getgid();
	} else if (id_from("SUDO_UID", &uid) && id_from("SUDO_GID", &gid)) {
		*ret_uid = (uid_t)uid;
		*ret_gid = (gid_t)gid;
	}
}

int bb_become_user(uid_t uid, gid_t gid)
{
	if (geteuid() != 0 || uid == 0)
		return 0;
	struct passwd *user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) : setgroups(0, NULL))
		return -errno;
	if (setgid(gid) || setuid(uid))
		return -errno;
	return 0;
}

/* The initial user namespace maps all user ids from 0 to 2^32-2 to themselves. If
 * /proc/self/uid_map cannot be read, the kernel has no user namespaces, so the result is true. */
bool bb_user__is_initial_namespace(void)
{
	static const uint64_t expected[] = {0, 0, UINT32_MAX};
	bool is_same = true;
	uint64_t number;
	char *text;
	size_t len;

	if (bb_read_proc("/proc/self/uid_map", 4096, &text, &len))
		return true;
	const char *at = text;
	for (size_t i = 0; is_same && i < BB_LEN(expected); i++) {
		at += strspn(at, " \t");
		is_same = !bb_parse_digits(&at, &number) && number == expected[i];
	}
	free(text);
	return is_same;
}

int bb_caller__own_files(struct bb_err *err)
{
	int rc = 0;
	uid_t uid;
	gid_t gid;

	bb_caller(&uid, &gid);
	if (uid == geteuid())
		return 0;
	const struct passwd *user = getpwuid(uid);
	if (user ? initgroups(user->pw_name, gid) : setgroups(1, &gid)) {
		rc = -errno;
	} else {
		setfsgid(gid);
		setfsuid(uid);
		/* setfsuid() and setfsgid() report no errors. They return the id that was set
		 * before, and with the id -1 they change nothing. */
		if ((uid_t)setfsuid((uid_t)-1) != uid || (gid_t)setfsgid((gid_t)-1) != gid)
			rc = -EPERM;
	}
	if (rc)
		return bb_fail(err, rc,
			       "cannot open files as the user %u who called sudo: %m; run it as "
			       "root without SUDO_UID if root's files are meant",
			       uid);
	file_uid = uid;
	return 0;
}

int bb_caller__become(struct bb_err *err)
{
	uid_t uid;
	gid_t gid;

	bb_caller(&uid, &gid);
	int rc = bb_become_user(uid, gid);
	if (rc)
		return bb_fail(err, rc, "cannot become the user %u who called sudo: %m", uid);
	file_uid = 0;
	return 0;
}

static void open_files_as(uid_t uid)
{
	int error = errno;

	if (file_uid)
		setfsuid(uid);
	errno = error;
}

void bb_root__begin(void)
{
	open_files_as(0);
}

void bb_root__end(void)
{
	open_files_as(file_uid);
	/* It is unsafe to go on if the process still opens files as root. */
	if (file_uid && (uid_t)setfsuid((uid_t)-1) != file_uid)
		abort();
}

int bb_root__open(const char *path, int flags)
{
	assert(!strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5));
	bb_root__begin();
	int fd = bb_open(path, flags);
	bb_root__end();
	return fd;
}

int bb_root__read(const char *path, char *ret_text, size_t size)
{
	int fd = bb_root__open(path, O_RDONLY);
	ssize_t n = fd < 0 ? fd : read(fd, ret_text, size - 1);

	if (fd >= 0 && n < 0)
		n = -errno;
	bb_close(&fd);
	ret_text[n > 0 ? n : 0] = '\0';
	return (int)n;
}

int bb_root__read_u64(const char *path, uint64_t *ret_value)
{
	char text[32];
	int n = bb_root__read(path, text, sizeof(text));

	text[strcspn(text, "\n")] = '\0';
	return n < 0 ? n : bb_parse_u64(text, ret_value);
}
