/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/processes.h"

static int link_fds[2]; /* each process that a test starts holds the other end of this pipe */

/* Runs a shell in a process group of its own, and waits until it has written a line. */
static pid_t start(const char *script)
{
	pid_t pid;
	char byte;

	assert_int_equal(pipe2(link_fds, O_NONBLOCK), 0);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		dup2(link_fds[1], STDOUT_FILENO);
		close(link_fds[0]);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(link_fds[1]);
	while (read(link_fds[0], &byte, 1) < 0)
		usleep(1000);
	return pid;
}

static void assert_none_alive(void)
{
	char byte;

	assert_int_equal(read(link_fds[0], &byte, 1), 0);
	close(link_fds[0]);
}

static int setup(void **state)
{
	(void)state;
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* An orphan in a session of its own. */
#define ORPHAN "(setsid sh -c 'echo; exec sleep 600' &)"

/* A root that ends before its descendants. */
static void test_root(void **state)
{
	pid_t other = fork(), pid;
	struct bb_ending e = {.steps = {{SIGTERM, 600}, {SIGKILL, 2}}};
	int last;

	(void)state;
	if (other == 0) {
		pause();
		_exit(0);
	}
	e.root = pid = start("(trap 'sleep 0.3; exit' TERM; echo; while :; do sleep 0.05; done) & "
			     "wait");
	assert_int_equal(bb_processes__end(&e, &last), 0);
	assert_int_equal(last, SIGTERM);
	assert_none_alive();
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	/* it is not below the root */
	assert_int_equal(kill(other, 0), 0);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
	/* nothing is left */
	e.root = getpid();
	assert_int_equal(bb_processes__end(&e, &last), 0);
	assert_int_equal(last, 0);
}

/* A process that ignores all signals but the last one. */
static void test_steps(void **state)
{
	const struct bb_ending e = {.steps = {{SIGINT, 0.05}, {SIGTERM, 0.05}, {SIGKILL, 600}}};
	int last;

	(void)state;
	start("trap '' INT TERM; echo; while :; do sleep 0.05; done");
	assert_int_equal(bb_processes__end(&e, &last), 0);
	assert_int_equal(last, SIGKILL);
	assert_none_alive();
}

static void test_does_not_end(void **state)
{
	const struct bb_ending e = {.steps = {{SIGTERM, 0.1}}},
			       by_force = {.steps = {{SIGKILL, 600}}};

	(void)state;
	start("trap '' TERM; echo; while :; do sleep 0.05; done");
	assert_int_equal(bb_processes__end(&e, NULL), -EBUSY);
	assert_int_equal(bb_processes__end(&by_force, NULL), 0);
	assert_none_alive();
}

struct leader {
	pid_t pid;
	int status, turns;
};

static void reap(void *arg)
{
	struct leader *l = arg;

	l->turns++;
	if (l->pid && waitpid(l->pid, &l->status, WNOHANG) == l->pid)
		l->pid = 0;
	usleep(1000);
}

/* The leader's status is not lost, its orphan gets the signals, too, and a child that was there
 * before is left alone. */
static void test_leader(void **state)
{
	pid_t other = fork();
	struct leader l = {0};
	struct bb_ending e = {
		.keep = &other,
		.n_keep = 1,
		.steps = {{SIGINT, 1}, {SIGTERM, 600}}, /* a shell's '&' ignores SIGINT */
		.turn = reap,
		.arg = &l,
	};
	int last;

	(void)state;
	if (other == 0) {
		pause();
		_exit(0);
	}
	e.leader = l.pid = start("trap 'sleep 0.1; exit 7' INT; " ORPHAN "; "
				 "while :; do sleep 0.05; done");
	assert_int_equal(bb_processes__end(&e, &last), 0);
	assert_int_equal(last, SIGTERM);
	assert_true(l.turns > 0);
	assert_int_equal(l.pid, 0);
	assert_true(WIFEXITED(l.status));
	assert_int_equal(WEXITSTATUS(l.status), 7);
	assert_none_alive();
	assert_int_equal(waitpid(other, NULL, WNOHANG), 0);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

/* With no descriptor left for /proc, and with one, which is too few. */
static void test_no_descriptors(void **state)
{
	(void)state;
	for (unsigned int n_free = 0; n_free < 2; n_free++) {
		struct leader l = {.pid = start("echo; exec sleep 600")};
		const struct bb_ending e = {.leader = l.pid,
					    .steps = {{SIGTERM, 600}},
					    .turn = reap,
					    .arg = &l};
		struct rlimit old, few;
		int first_free = dup(link_fds[0]), rc;

		close(first_free);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
		few = old;
		few.rlim_cur = (rlim_t)first_free + n_free;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		rc = bb_processes__end(&e, NULL);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
		assert_int_equal(rc, -EMFILE);
		assert_int_equal(l.pid, 0);
		assert_none_alive();
	}
}

static void wait_for_leader(void *arg)
{
	struct leader *l = arg;

	if (l->pid)
		waitpid(l->pid, &l->status, 0);
	l->pid = 0;
}

/* The first signal is sent even if reading /proc takes longer than the first step. */
static void test_slow_start(void **state)
{
	struct leader l = {.pid = start("trap 'exit 7' TERM; echo; while :; do sleep 0.05; done")};
	const struct bb_ending e = {.leader = l.pid,
				    .steps = {{SIGTERM, 0}, {SIGKILL, 600}},
				    .turn = wait_for_leader,
				    .arg = &l};

	(void)state;
	assert_int_equal(bb_processes__end(&e, NULL), 0);
	assert_true(WIFEXITED(l.status));
	assert_int_equal(WEXITSTATUS(l.status), 7);
	assert_none_alive();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root),           cmocka_unit_test(test_steps),
		cmocka_unit_test(test_does_not_end),   cmocka_unit_test(test_leader),
		cmocka_unit_test(test_no_descriptors), cmocka_unit_test(test_slow_start),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
