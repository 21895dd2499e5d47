/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/process.h"
#include "base/stop.h"

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

/* More than a pipe holds: nobody has to read meanwhile. */
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

/* git and make name their own repository and jobserver to what they run. */
static void test_environment(void **state)
{
	struct bb_process_end end;

	(void)state;
	setenv("GIT_DIR", "/elsewhere", 1);
	setenv("MAKEFLAGS", "-j9", 1);
	setenv("BB_TEST_KEPT", "kept", 1);
	assert_int_equal(run("echo \"$GIT_DIR$MAKEFLAGS$BB_TEST_KEPT\"", false, &end), 0);
	assert_string_equal(end.out, "kept\n");
	bb_process_end__done(&end);
	unsetenv("GIT_DIR");
	unsetenv("MAKEFLAGS");
}

/* What it started goes with it. */
static void test_stop(void **state)
{
	uint64_t began_ns = bb_now_ns();
	struct bb_process_end end;
	int alive[2];
	char byte, script[64];

	(void)state;
	assert_int_equal(pipe(alive), 0);
	snprintf(script, sizeof(script), "sleep 60 >&%d & kill -TERM $PPID; sleep 60", alive[1]);
	bb_stop__install();
	assert_int_equal(run(script, false, &end), -EINTR);
	bb_stop_signal = 0;
	assert_non_null(strstr(err.msg, "stopped by signal 15"));
	close(alive[1]);
	assert_int_equal(read(alive[0], &byte, 1), 0); /* nobody has the other end any more */
	close(alive[0]);
	assert_true(bb_seconds_since(began_ns) < 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_it_said), cmocka_unit_test(test_much),
		cmocka_unit_test(test_killed),       cmocka_unit_test(test_not_there),
		cmocka_unit_test(test_environment),  cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
