/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files behind symbolic links: our own links are followed, those of another user are refused. A
 * race does not change that. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "unit/folder_testing.h"

#define NOBODY 65534
#define ROUNDS 3000

static int open_dir(const char *path)
{
	int fd = bb_own__open(path, O_RDONLY | O_DIRECTORY);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int make_dirs(const char *path)
{
	int fd = bb_own__make_dirs(path);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void need_root_here(void)
{
	if (geteuid()) {
		print_message("# skip: links of another user need root\n");
		skip();
	}
}

static void test_paths(void **state)
{
	char long_name[400];
	int fd;

	(void)state;
	assert_int_equal(make_dirs(in_folder("a/b//c/")), 0);
	assert_int_equal(make_dirs(in_folder("a/b/c")), 0);
	assert_int_equal(open_dir(in_folder("a/b/../b/./c/")), 0);
	assert_int_equal(open_dir(in_folder("a/x")), -ENOENT);
	assert_int_equal(open_dir("/"), 0);
	assert_int_equal(open_dir("//"), 0);
	assert_int_equal(open_dir("."), 0);
	assert_int_equal(open_dir(".."), 0);
	assert_int_equal(open_dir(""), -ENOENT);
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_int_equal(open_dir(in_folder(long_name)), -ENAMETOOLONG);
	fd = bb_own__open(in_folder("a/file"), O_WRONLY | O_CREAT | O_EXCL);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	assert_int_equal(open_dir(in_folder("a/file")), -ENOTDIR);
	assert_int_equal(open_dir(in_folder("a/file/b")), -ENOTDIR);
	assert_int_equal(make_dirs(in_folder("a/file/b")), -ENOTDIR);
	assert_int_equal(bb_own__open(in_folder("a/file"), O_WRONLY | O_CREAT | O_EXCL), -EEXIST);
}

static void test_own_links(void **state)
{
	(void)state;
	assert_int_equal(make_dirs(in_folder("a/b")), 0);
	assert_int_equal(symlink("b", in_folder("a/near")), 0);
	assert_int_equal(symlink("../a/near", in_folder("a/far")), 0);
	assert_int_equal(symlink(folder, in_folder("a/b/top")), 0);
	assert_int_equal(symlink("loop", in_folder("loop")), 0);
	assert_int_equal(symlink("not-there", in_folder("dangling")), 0);
	assert_int_equal(open_dir(in_folder("a/far/top/a/near")), 0);
	assert_int_equal(make_dirs(in_folder("a/far/new/er")), 0);
	assert_int_equal(open_dir(in_folder("a/b/new/er")), 0);
	assert_int_equal(open_dir(in_folder("loop")), -ELOOP);
	assert_int_equal(open_dir(in_folder("dangling")), -ENOENT);
}

static void test_links_of_another(void **state)
{
	static const char *const links[] = {"last", "mid", "file"};

	(void)state;
	need_root_here();
	assert_int_equal(make_dirs(in_folder("victim/in")), 0);
	close(open(in_folder("victim/text"), O_WRONLY | O_CREAT, 0600));
	assert_int_equal(symlink("victim", in_folder("last")), 0);
	assert_int_equal(symlink("victim", in_folder("mid")), 0);
	assert_int_equal(symlink("victim/text", in_folder("file")), 0);
	assert_int_equal(symlink("last", in_folder("over")), 0); /* our link, to a link of theirs */
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		assert_int_equal(lchown(in_folder(links[i]), NOBODY, NOBODY), 0);
	assert_int_equal(open_dir(in_folder("last")), -ELOOP);
	assert_int_equal(open_dir(in_folder("last/")), -ELOOP);
	assert_int_equal(open_dir(in_folder("mid/in")), -ELOOP);
	assert_int_equal(open_dir(in_folder("over")), -ELOOP);
	assert_int_equal(make_dirs(in_folder("mid/new")), -ELOOP);
	assert_int_equal(bb_own__open(in_folder("file"), O_RDONLY), -ELOOP);
	assert_int_equal(bb_own__open(in_folder("file"), O_WRONLY | O_CREAT), -ELOOP);
	assert_int_equal(count_entries(in_folder("victim")), 2);
}

/* As NOBODY, who owns the folder: makes `results` a folder and a link to root's folder in turns. */
static void toggle(void)
{
	if (chdir(folder) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	for (unsigned int i = 0;; i++) {
		char away[32];

		snprintf(away, sizeof(away), "away-%u", i);
		if (mkdir("results", 0777) || rename("results", away) ||
		    symlink("../victim", "results") || unlink("results"))
			_exit(2);
	}
}

static void test_toggled(void **state)
{
	char victim[PATH_MAX];
	int refused = 0, made = 0, status;
	pid_t pid;

	(void)state;
	need_root_here();
	snprintf(victim, sizeof(victim), "%s", in_folder("victim"));
	assert_int_equal(mkdir(victim, 0755), 0);
	assert_int_equal(mkdir(in_folder("theirs"), 0755), 0);
	assert_int_equal(chmod(folder, 0711), 0);
	assert_int_equal(chown(in_folder("theirs"), NOBODY, NOBODY), 0);
	pid = fork();
	if (pid == 0) {
		folder = strdup(in_folder("theirs"));
		toggle();
	}
	for (int i = 0; i < ROUNDS; i++) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "theirs/results/run-%d", i);
		fd = bb_own__open(in_folder(path), O_WRONLY | O_CREAT | O_EXCL);
		refused += fd == -ELOOP;
		made += fd >= 0;
		if (fd >= 0)
			close(fd);
		assert_int_equal(count_entries(victim), 0);
	}
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* still toggling */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	print_message("# %d rounds: %d links refused, %d files made in the folder\n", ROUNDS,
		      refused, made);
	assert_int_equal(count_entries(victim), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_paths, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_own_links, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_links_of_another, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_toggled, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
