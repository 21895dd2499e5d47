/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"
#include "base/deadline.h"
#include "base/caller.h"

#define NOBODY 65534

static struct bb_err err;

static int run(const char *script, bool together, struct bb_process_end *end)
{
	const char *argv[] = {"sh", "-c", script, NULL};
	struct bb_process p = {.argv = argv, .dir = "/", .together = together};

	return bb_process__run(&p, end, &err);
}

static void test_what_it_said(void **state)
{
	struct bb_process_end end;

	(void)state;
	assert_int_equal(run("pwd; echo no >&2; cat; exit 3", false, &end), 0);
	assert_int_equal(end.status, 3);
	assert_string_equal(end.out, "/\n");
	assert_string_equal(end.log, "no\n");
	bb_process_end__done(&end);
	assert_int_equal(run("echo a; echo b >&2; echo c", true, &end), 0);
	assert_string_equal(end.out, "a\nb\nc\n");
	assert_string_equal(end.log, "");
	bb_process_end__done(&end);
}

/* Output larger than a pipe's buffer does not block the command, although nobody reads
 * meanwhile. */
static void test_much(void **state)
{
	struct bb_process_end end;

	(void)state;
	assert_int_equal(run("head -c 1000000 /dev/zero | tr '\\0' x", false, &end), 0);
	assert_int_equal(strlen(end.out), 1000000);
	bb_process_end__done(&end);
}

static void test_killed(void **state)
{
	struct bb_process_end end;

	(void)state;
	assert_int_equal(run("kill -KILL $$", false, &end), 0);
	assert_int_equal(end.status, 128 + SIGKILL);
	bb_process_end__done(&end);
}

static void test_not_there(void **state)
{
	const char *argv[] = {"bpfbench-no-such-program", NULL}, *shell[] = {"true", NULL};
	struct bb_process p = {.argv = argv}, lost = {.argv = shell, .dir = "/no/such/folder"};
	struct bb_process_end end;

	(void)state;
	assert_int_equal(bb_process__run(&p, &end, &err), -ENOENT);
	assert_string_equal(err.msg, "no 'bpfbench-no-such-program' in $PATH: install it");
	assert_int_equal(bb_process__run(&lost, &end, &err), -ENOENT);
	assert_string_equal(err.msg, "/no/such/folder: No such file or directory");
}

/* Of a very long output, the last part is kept. */
static void test_very_much(void **state)
{
	struct bb_process_end end;
	size_t len;

	(void)state;
	assert_int_equal(run("head -c 40000000 /dev/zero | tr '\\0' x; echo the end", true, &end),
			 0);
	len = strlen(end.out);
	assert_in_range(len, 1000000, 16u << 20);
	assert_string_equal(end.out + len - 8, "the end\n");
	bb_process_end__done(&end);
}

/* A recipe's `echo >/dev/stderr` opens stderr anew. That would empty a file, and only the owner of
 * a file may open it. */
static void test_opened_anew(void **state)
{
	const char *argv[] = {"sh", "-c",
			      "echo a; echo b >/dev/stderr; echo c >/dev/stdout; echo d", NULL};
	struct bb_process p = {.argv = argv, .dir = "/", .together = true};
	struct bb_process_end end;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(bb_process__run(&p, &end, &err), 0);
		assert_string_equal(end.out, "a\nb\nc\nd\n");
		bb_process_end__done(&end);
		p.uid = p.gid = NOBODY; /* if root runs the test: as another user */
	}
}

/* Secrets are not handed down, nor the variables that git and make set for their commands. */
static void test_environment(void **state)
{
	static const char *const kept[] = {"BB_TEST_KEPT", "BB_TEST_UNSET", NULL};
	const char *argv[] = {"env", NULL};
	struct bb_process p = {.argv = argv, .env = kept};
	struct bb_process_end end;

	(void)state;
	setenv("GIT_DIR", "/elsewhere", 1);
	setenv("MAKEFLAGS", "-j9", 1);
	setenv("BB_TEST_SECRET", "secret", 1);
	setenv("BB_TEST_KEPT", "kept", 1);
	setenv("PATH", "/bin:/usr/bin", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TERM", "dumb", 1);
	setenv("HOME", "/home/of-ours", 1);
	assert_int_equal(bb_process__run(&p, &end, &err), 0);
	assert_string_equal(end.out, "HOME=/home/of-ours\nPATH=/bin:/usr/bin\nLANG=C.UTF-8\n"
				     "TERM=dumb\nBB_TEST_KEPT=kept\n");
	bb_process_end__done(&end);
	unsetenv("GIT_DIR");
	unsetenv("MAKEFLAGS");
}

static void need_root(void)
{
	if (geteuid()) {
		print_message("# skip: needs root\n");
		skip();
	}
}

/* As another user, a command gets that user's HOME and cannot become root again. */
static void test_other_user(void **state)
{
	const char *argv[] = {"sh", "-c", "id -u; echo $HOME; grep NoNewPrivs: /proc/self/status",
			      NULL};
	struct bb_process p = {.argv = argv, .uid = NOBODY, .gid = NOBODY};
	const struct passwd *nobody = getpwuid(NOBODY);
	struct bb_process_end end;
	char want[300];

	(void)state;
	need_root();
	assert_int_equal(bb_process__run(&p, &end, &err), 0);
	snprintf(want, sizeof(want), "%d\n%s\nNoNewPrivs:\t1\n", NOBODY,
		 nobody ? nobody->pw_dir : "/");
	assert_string_equal(end.out, want);
	bb_process_end__done(&end);
}

/* Writes a script that starts daemons: one in its process group, one in a session of its own, and
 * two that are orphaned twice. They all keep `alive_fd` open. */
static void start_daemons(char *script, size_t size, int alive_fd, const char *then)
{
	snprintf(script, size,
		 "sleep 600 >&%d & setsid sleep 600 >&%d & "
		 "(setsid sh -c '(sleep 600 >&%d; sleep 600) & sleep 600 >&%d' &) & %s",
		 alive_fd, alive_fd, alive_fd, alive_fd, then);
}

/* Checks that no process has the other end open any more. */
static void assert_none_alive(int *alive)
{
	char byte;

	close(alive[1]);
	assert_int_equal(read(alive[0], &byte, 1), 0);
	close(alive[0]);
}

/* The daemons have ended when bb_process__run() returns, and not some time later. */
static void test_daemons(void **state)
{
	struct bb_process_end end;
	char script[300];
	int alive[2];

	(void)state;
	assert_int_equal(pipe2(alive, O_NONBLOCK), 0);
	start_daemons(script, sizeof(script), alive[1], "sleep 0.2; exit 7");
	assert_int_equal(run(script, false, &end), 0);
	assert_int_equal(end.status, 7);
	assert_none_alive(alive);
	bb_process_end__done(&end);
}

/* The same as an ordinary user, so without a PID namespace. */
static void test_daemons_without_root(void **state)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (!geteuid() && bb_become_user(NOBODY, NOBODY))
			_exit(1);
		test_daemons(state);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* In a PID namespace, process numbers and /proc are those of the namespace: no other processes are
 * seen. */
static void test_whole(void **state)
{
	struct bb_process_end end;

	(void)state;
	need_root();
	assert_int_equal(run("[ -d /proc/$$ ] && kill -0 1 && echo alone $PPID", false, &end), 0);
	if (!end.was_whole) {
		print_message("# skip: no PID namespace can be made here\n");
		bb_process_end__done(&end);
		skip();
	}
	assert_string_equal(end.out, "alone 1\n");
	bb_process_end__done(&end);
}

/* The process that keeps a namespace dies with bpfbench, even after SIGKILL, and so do all
 * processes in the namespace. */
static void test_killed_ourselves(void **state)
{
	struct bb_process_end end;
	int alive[2], begun[2];
	char script[300], byte, then[64];
	struct pollfd p;
	pid_t pid;

	(void)state;
	need_root();
	assert_int_equal(pipe(alive) | pipe(begun), 0);
	snprintf(then, sizeof(then), "sleep 0.2; echo >&%d; sleep 600", begun[1]);
	start_daemons(script, sizeof(script), alive[1], then);
	pid = fork();
	if (pid == 0)
		_exit(run(script, false, &end));
	assert_int_equal(read(begun[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(alive[1]);
	p = (struct pollfd){.fd = alive[0], .events = POLLIN};
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_int_equal(p.revents, POLLHUP);
	close(alive[0]);
	close(begun[0]);
	close(begun[1]);
}

/* A stop signal ends the command and everything that it started. */
static void test_stop(void **state)
{
	pid_t parent = getpid(), pid;
	struct bb_process_end end;
	int alive[2], begun[2];
	char script[300], then[64];

	(void)state;
	assert_int_equal(pipe2(alive, O_NONBLOCK) | pipe(begun), 0);
	snprintf(then, sizeof(then), "echo >&%d; sleep 600", begun[1]);
	start_daemons(script, sizeof(script), alive[1], then);
	bb_stop__install(true);
	pid = fork();
	if (pid == 0) {
		close(alive[1]);
		_exit(read(begun[0], then, 1) != 1 || kill(parent, SIGTERM));
	}
	assert_int_equal(run(script, false, &end), -EINTR);
	bb_stop_signal = 0;
	assert_non_null(strstr(err.msg, "stopped by signal 15"));
	assert_none_alive(alive);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(begun[0]);
	close(begun[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_said), cmocka_unit_test(test_much),
		cmocka_unit_test(test_very_much),    cmocka_unit_test(test_opened_anew),
		cmocka_unit_test(test_killed),       cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_environment),  cmocka_unit_test(test_other_user),
		cmocka_unit_test(test_daemons),      cmocka_unit_test(test_daemons_without_root),
		cmocka_unit_test(test_whole),        cmocka_unit_test(test_killed_ourselves),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
