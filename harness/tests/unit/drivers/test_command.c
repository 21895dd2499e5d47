/* SPDX-License-Identifier: GPL-2.0-or-later */
/* drivers/command: the program is held before it begins, so that what is attached to it meanwhile
 * misses nothing. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/std.h"
#include "base/caller.h"
#include "drivers/command.h"

/* Describes a held program, pinned to the current CPU, which we may use. */
static struct bb_command_spec held(const char *program, const char *const *args, size_t n_args)
{
	return (struct bb_command_spec){
		.noun = "workload",
		.when = "midway",
		.program = program,
		.args = args,
		.n_args = n_args,
		.is_held = true,
		.is_pinned = true,
		.place = {.cpu = sched_getcpu(), .uid = geteuid(), .gid = getegid()},
	};
}

/* Waits for the end. Returns the last result of bb_command__ended(). */
static int wait_for_end(struct bb_command *w, struct bb_err *err)
{
	const struct timespec a_little = {.tv_nsec = 1000000};
	uint64_t began_ns = bb_now_ns();
	int rc = 0;

	while (!rc && bb_seconds_since(began_ns) < 600) {
		rc = bb_command__ended(w, err);
		nanosleep(&a_little, NULL);
	}
	return rc;
}

static void held_until_resumed(void **state)
{
	const struct timespec a_while = {.tv_nsec = 50000000};
	char path[] = "/tmp/bpfbench-held.XXXXXX", command[64];
	const char *args[] = {"-c", command};
	struct bb_command_spec spec = held("/bin/sh", args, 2);
	struct bb_command w = {0};
	struct bb_err err = {0};

	(void)state;
	close(mkstemp(path));
	unlink(path);
	snprintf(command, sizeof(command), "mkdir %s", path);
	assert_int_equal(bb_command__start(&spec, &w, &err), 0);
	nanosleep(&a_while, NULL);
	assert_int_equal(bb_command__ended(&w, &err), 0);
	assert_int_equal(access(path, F_OK), -1);
	bb_command__resume(&w);
	assert_int_equal(wait_for_end(&w, &err), 1);
	assert_int_equal(rmdir(path), 0);
}

static void held_and_stopped(void **state)
{
	struct bb_command_spec spec = held("/bin/true", NULL, 0);
	struct bb_command w = {0};
	struct bb_err err = {0};
	pid_t pid;

	(void)state;
	assert_int_equal(bb_command__start(&spec, &w, &err), 0);
	pid = w.pid;
	bb_command__done(&w);
	assert_int_equal(w.pid, 0);
	assert_int_equal(waitpid(pid, NULL, 0), -1);
	assert_int_equal(errno, ECHILD);
}

/* A file that cannot be executed is found out only at bb_command__resume(). bb_command__ended()
 * then returns an error. */
static void held_and_no_program(void **state)
{
	struct bb_command_spec spec = held("/proc/self/status", NULL, 0);
	struct bb_command w = {0};
	struct bb_err err = {0};

	(void)state;
	assert_int_equal(bb_command__start(&spec, &w, &err), 0);
	bb_command__resume(&w);
	assert_int_equal(wait_for_end(&w, &err), -ECHILD);
	assert_non_null(strstr(err.msg, " midway"));
	spec.program = "/nosuch/program";
	assert_int_equal(bb_command__start(&spec, &w, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "workload '/nosuch/program' not found"));
	spec = held("/bin/true", NULL, 0);
	/* No such CPU: the child ends before it is held, with a message. */
	spec.place.cpu = CPU_SETSIZE - 1;
	assert_true(bb_command__start(&spec, &w, &err) < 0);
	assert_non_null(strstr(err.msg, "cannot be started"));
}

/* Runs `work` in a child that is not root, because root could do what must fail here. */
static void as_user(void (*work)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (bb_become_user(65534, 65534))
			_exit(2);
		work();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void open_forbidden(void)
{
	char folder[] = "/tmp/bpfbench-forbidden.XXXXXX", path[64];
	struct bb_command_spec spec = held("tool", NULL, 0);
	struct bb_command w = {0};
	struct bb_err err = {0};

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/tool", folder);
	close(open(path, O_CREAT | O_WRONLY, 0000));
	spec.dir = folder;
	assert_int_equal(bb_command__start(&spec, &w, &err), -EACCES);
	assert_non_null(strstr(err.msg, "Permission denied"));
	spec.program = path;
	assert_int_equal(bb_command__start(&spec, &w, &err), -EACCES);
	assert_non_null(strstr(err.msg, "Permission denied"));
	unlink(path);
	rmdir(folder);
}

/* A file that may not be opened is not reported as missing. */
static void forbidden(void **state)
{
	(void)state;
	as_user(open_forbidden);
}

static int lowest_free_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void start_without_processes(void)
{
	const struct rlimit none = {0, 0};
	struct bb_command_spec spec = held("/bin/true", NULL, 0);
	struct bb_command w = {0};
	struct bb_err err = {0};
	int before = lowest_free_fd();

	assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
	assert_int_equal(bb_command__start(&spec, &w, &err), -EAGAIN);
	assert_non_null(strstr(err.msg, "cannot be started"));
	assert_int_equal(lowest_free_fd(), before);
}

static void no_process_to_be_had(void **state)
{
	(void)state;
	as_user(start_without_processes);
}

/* The workload does not get our environment, which may hold a secret of the CI. */
static void clean_environment(void **state)
{
	static const char *const kept[] = {"BB_TEST_KEPT", NULL};
	const char *args[] = {"-c", "test "
				    "\"$PATH+$BB_TEST_KEPT+$BB_"
				    "TEST_SECRET\" = "
				    "/bin:/usr/bin+kept+"};
	struct bb_command_spec spec = held("sh", args, 2);
	struct bb_command w = {0};
	struct bb_err err = {0};

	(void)state;
	setenv("PATH", "/bin:/usr/bin", 1);
	setenv("BB_TEST_KEPT", "kept", 1);
	setenv("BB_TEST_SECRET", "secret", 1);
	spec.place.env = kept;
	assert_int_equal(bb_command__start(&spec, &w, &err), 0);
	bb_command__resume(&w);
	assert_int_equal(wait_for_end(&w, &err), 1);
}

/* A program that runs as root is searched for in `path`, not in the caller's $PATH. */
static void path_of_its_own(void **state)
{
	const char *args[] = {"-c", "test \"$PATH\" = "
				    "/bin:/usr/bin"};
	struct bb_command_spec spec = held("sh", args, 2);
	struct bb_command w = {0};
	struct bb_err err = {0};

	(void)state;
	setenv("PATH", "/nonexistent", 1);
	spec.path = "/bin:/usr/bin";
	assert_int_equal(bb_command__start(&spec, &w, &err), 0);
	bb_command__resume(&w);
	assert_int_equal(wait_for_end(&w, &err), 1);
	setenv("PATH", "/bin:/usr/bin", 1);
	spec.path = "/nonexistent";
	assert_int_equal(bb_command__start(&spec, &w, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "'sh' not found in /nonexistent"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(held_until_resumed),   cmocka_unit_test(held_and_stopped),
		cmocka_unit_test(held_and_no_program),  cmocka_unit_test(forbidden),
		cmocka_unit_test(no_process_to_be_had), cmocka_unit_test(clean_environment),
		cmocka_unit_test(path_of_its_own),
	};

	return cmocka_run_group_tests_name("workload", tests, NULL, NULL);
}
