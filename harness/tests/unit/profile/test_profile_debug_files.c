/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a mapped file names, or whose name has a process's number: which of them are
 * opened. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/child.h"
#include "base/io.h"
#include "profile/symbolize.h"
#include "profile/symtab.h"
#include "unit/folder_testing.h"

#define OTHER_USER 12345u /* an unused user id */

static void make_file(const char *name, const char *text, uid_t owner)
{
	FILE *out = fopen(in_folder(name), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	if (!geteuid())
		assert_int_equal(chown(in_folder(name), owner, (gid_t)-1), 0);
}

/* Opens the debug link of folder/program. The program belongs to OTHER_USER if the test runs as
 * root. */
static int open_link(const char *name)
{
	struct bb_debug_request request = {.kind = BB_DEBUG_LINK};
	int of_fd = open(in_folder("program"), O_RDONLY), fd;

	assert_true(of_fd >= 0);
	strcpy(request.name, name);
	fd = bb_debug_file__open(&request, in_folder("program"), of_fd);
	close(of_fd);
	if (fd >= 0)
		close(fd);
	return fd;
}

static void links(void **state)
{
	(void)state;
	make_file("program", "", OTHER_USER);
	make_file("same.debug", "", OTHER_USER);
	assert_int_equal(mkdir(in_folder(".debug"), 0755), 0);
	make_file(".debug/below.debug", "", OTHER_USER);
	assert_int_equal(mkfifo(in_folder("fifo"), 0666), 0);
	assert_int_equal(symlink("/dev/zero", in_folder("device")), 0);
	assert_true(open_link("same.debug") >= 0);
	assert_true(open_link("below.debug") >= 0);
	assert_int_equal(open_link("missing.debug"), -ENOENT);
	/* /usr/lib/debug has none of these, either. */
	assert_true(open_link("fifo") < 0);
	assert_true(open_link("device") < 0);
	assert_true(open_link(".debug") < 0);
	assert_int_equal(open_link("../etc/passwd"), -EINVAL);
	assert_int_equal(open_link(""), -EINVAL);
}

static void links_of_others(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("# skip: needs root\n");
		skip();
	}
	make_file("program", "", OTHER_USER);
	make_file("theirs", "", OTHER_USER + 1);
	make_file("root's", "", 0);
	assert_true(open_link("theirs") < 0);
	assert_true(open_link("root's") >= 0);
}

static void requests_that_are_none(void **state)
{
	static const struct {
		enum bb_debug_kind kind;
		const char *name;
	} bad[] = {
		{BB_DEBUG_ALT + 1, "x"},
		{BB_DEBUG_BUILD_ID, "../../../../etc/passwd"},
		{BB_DEBUG_BUILD_ID, "ab"},
		{BB_DEBUG_BUILD_ID, "ABCD"},
		{BB_DEBUG_ALT, "/etc/passwd"},
		{BB_DEBUG_ALT, "/.dwz/../../../../etc/passwd"},
		{77, "x"},
	};
	struct bb_debug_request request;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		request = (struct bb_debug_request){.kind = bad[i].kind};
		strcpy(request.name, bad[i].name);
		assert_int_equal(bb_debug_file__open(&request, "/bin/sh", 0), -EINVAL);
	}
	memset(request.name, 'a', sizeof(request.name));
	request.kind = BB_DEBUG_LINK;
	assert_int_equal(bb_debug_file__open(&request, "/bin/sh", 0), -EINVAL);
}

/* Sends answers through a socket, with a descriptor and without. */
static void answers(void **state)
{
	int pair[2], null = open("/dev/null", O_RDONLY), fd;
	struct stat sent, got;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	assert_int_equal(bb_descriptor__send(pair[0], 0, null), 0);
	fd = bb_debug_file__ask(pair[1], BB_DEBUG_LINK, "x");
	assert_true(fd >= 0);
	assert_int_equal(fstat(null, &sent) | fstat(fd, &got), 0);
	assert_int_equal(sent.st_rdev, got.st_rdev);
	close(fd);
	assert_int_equal(bb_descriptor__send(pair[0], 0, -1), 0);
	assert_int_equal(bb_debug_file__ask(pair[1], BB_DEBUG_LINK, "x"), -ENOENT);
	close(pair[0]);
	assert_true(bb_debug_file__ask(pair[1], BB_DEBUG_LINK, "x") < 0);
	close(pair[1]);
	close(null);
}

/* A JIT map for a process that cannot exist, because its number is too large. */
#define NO_PROCESS 4000000123u
#define MAP "/tmp/perf-4000000123.map"
#define LINE "1000 100 jitted\n"

static bool has_map(uint32_t uid)
{
	struct bb_jit_maps maps = {0};
	const struct bb_symtab *symtab = bb_jit_maps__get(&maps, NO_PROCESS, uid);
	bool has;

	has = symtab && symtab->n == 1;
	bb_jit_maps__done(&maps);
	return has;
}

static void put_map(uid_t owner)
{
	int fd;

	unlink(MAP);
	fd = open(MAP, O_WRONLY | O_CREAT | O_EXCL, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, LINE, strlen(LINE)), strlen(LINE));
	if (!geteuid())
		assert_int_equal(fchown(fd, owner, (gid_t)-1), 0);
	close(fd);
}

static void jit_maps(void **state)
{
	uint32_t own = geteuid() ? geteuid() : OTHER_USER;

	(void)state;
	put_map(own);
	assert_true(has_map(own));
	assert_false(has_map(own + 1));
	assert_false(has_map(BB_NO_ID));
	put_map(0);
	if (!geteuid())
		assert_true(has_map(own));
	assert_int_equal(unlink(MAP), 0);
	make_file("map", LINE, own);
	assert_int_equal(symlink(in_folder("map"), MAP), 0);
	assert_false(has_map(own));
	assert_int_equal(unlink(MAP), 0);
	assert_int_equal(mkfifo(MAP, 0666), 0);
	assert_false(has_map(geteuid()));
	assert_int_equal(unlink(MAP), 0);
	assert_false(has_map(geteuid()));
}

static void regular_files_only(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	make_file("file", "text", geteuid());
	fd = bb_open_regular(in_folder("file"), O_NOFOLLOW, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 4);
	close(fd);
	assert_int_equal(bb_open_regular("/dev/null", 0, &st), -EINVAL);
	assert_int_equal(bb_open_regular("/", 0, &st), -EINVAL);
	assert_int_equal(bb_open_regular(in_folder("missing"), 0, &st), -ENOENT);
	assert_int_equal(symlink("file", in_folder("link")), 0);
	assert_int_equal(bb_open_regular(in_folder("link"), O_NOFOLLOW, &st), -EINVAL);
	fd = bb_open_regular(in_folder("link"), 0, &st);
	assert_true(fd >= 0);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links),
		cmocka_unit_test(links_of_others),
		cmocka_unit_test(requests_that_are_none),
		cmocka_unit_test(answers),
		cmocka_unit_test(jit_maps),
		cmocka_unit_test(regular_files_only),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
