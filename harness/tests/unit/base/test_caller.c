/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bpfbench opens files with its caller's rights, whoever runs it. As root, each test runs in a
 * child process that stands for a user's `sudo bpfbench`. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/caller.h"

#include "unit/folder_testing.h"

#define CALLER 65534

/* The child's exit code says what it found: 0 if all is well, else the failing line modulo 256. */
#define EXPECT(is_true)                                                                            \
	do {                                                                                       \
		if (!(is_true)) {                                                                  \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, __LINE__, #is_true,    \
				errno);                                                            \
			_exit(1);                                                                  \
		}                                                                                  \
	} while (0)

static void in_child(void (*work)(void))
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("needs root\n");
		skip();
	}
	pid = fork();
	if (pid == 0) {
		char id[16];

		snprintf(id, sizeof(id), "%d", CALLER);
		setenv("SUDO_UID", id, 1);
		setenv("SUDO_GID", id, 1);
		work();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Makes a file that only root may read, in a folder where everybody may make files. Returns its
 * path. */
static const char *secret(void)
{
	int fd = open(in_folder("secret"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	EXPECT(fd >= 0 && write(fd, "x", 1) == 1 && !close(fd) && !chmod(folder, 0777));
	return in_folder("secret");
}

static bool may_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	else
		EXPECT(errno == EACCES);
	return fd >= 0;
}

static void *may_thread_read(void *path)
{
	return may_read(path) ? path : NULL;
}

static bool has_capability(int capability)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];

	EXPECT(!syscall(SYS_capget, &head, data));
	return data[capability / 32].effective >> capability % 32 & 1;
}

static void own_files(void)
{
	char path[PATH_MAX];
	pthread_t thread;
	struct stat st;
	void *got;
	int fd;

	snprintf(path, sizeof(path), "%s", secret());
	EXPECT(may_read(path));
	EXPECT(!bb_caller__own_files(NULL));
	EXPECT(!may_read(path));
	EXPECT(!pthread_create(&thread, NULL, may_thread_read, path));
	EXPECT(!pthread_join(thread, &got) && !got);
	EXPECT(chown(path, CALLER, CALLER) && errno == EPERM);
	EXPECT(unlink("/etc/passwd") && errno == EACCES);
	fd = open(in_folder("made"), O_WRONLY | O_CREAT | O_EXCL, 0644);
	EXPECT(fd >= 0 && !fstat(fd, &st) && st.st_uid == CALLER && st.st_gid == CALLER);
	/* Root for everything except files. */
	EXPECT(geteuid() == 0 && has_capability(CAP_SETUID));
	EXPECT(!has_capability(CAP_DAC_OVERRIDE) && !has_capability(CAP_DAC_READ_SEARCH));
	EXPECT(!has_capability(CAP_CHOWN) && !has_capability(CAP_FOWNER));
}

static void files_of_root(void)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s", secret());
	EXPECT(!bb_caller__own_files(NULL));
	EXPECT(open("/proc/self/mem", O_RDONLY) < 0 && errno == EACCES);
	fd = bb_root__open("/proc/self/mem", O_RDONLY);
	EXPECT(fd >= 0 && fcntl(fd, F_GETFD) == FD_CLOEXEC);
	EXPECT(!may_read(path));
	EXPECT(bb_root__open("/proc/self/not-there", O_RDONLY) == -ENOENT);
	EXPECT(!may_read(path));
	errno = ENOSPC;
	bb_root__begin();
	EXPECT(errno == ENOSPC && may_read(path));
	errno = ENOSPC;
	bb_root__end();
	EXPECT(errno == ENOSPC && !may_read(path));
}

static void become(void)
{
	EXPECT(!bb_caller__own_files(NULL));
	EXPECT(!bb_caller__become(NULL));
	EXPECT(getuid() == CALLER && geteuid() == CALLER && getgid() == CALLER);
	EXPECT(setfsuid((uid_t)-1) == CALLER);
	EXPECT(seteuid(0) && setuid(0) && setfsuid(0) == CALLER && setfsuid((uid_t)-1) == CALLER);
	EXPECT(!has_capability(CAP_SYS_ADMIN) && !has_capability(CAP_SETUID));
	bb_root__begin(); /* does nothing after bb_caller__become() */
	EXPECT(setfsuid((uid_t)-1) == CALLER);
	bb_root__end();
}

static void no_sudo(void)
{
	char path[PATH_MAX];
	uid_t uid;
	gid_t gid;

	snprintf(path, sizeof(path), "%s", secret());
	setenv("SUDO_UID", "nobody", 1);
	bb_caller(&uid, &gid);
	EXPECT(uid == 0 && gid == getegid());
	EXPECT(!bb_caller__own_files(NULL) && !bb_caller__become(NULL));
	EXPECT(geteuid() == 0 && may_read(path));
}

static void test_own_files(void **state)
{
	(void)state;
	in_child(own_files);
}

static void test_files_of_root(void **state)
{
	(void)state;
	in_child(files_of_root);
}

static void test_become(void **state)
{
	(void)state;
	in_child(become);
}

static void test_no_sudo(void **state)
{
	(void)state;
	in_child(no_sudo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_own_files, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_files_of_root, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_become, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_no_sudo, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
