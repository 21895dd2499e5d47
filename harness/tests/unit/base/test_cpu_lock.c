/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/give_way.h"
#include "base/io.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/deadline.h"

#define NOBODY 65534

#define need_root()                                                                                \
	do {                                                                                       \
		if (geteuid()) {                                                                   \
			print_message("# skip: needs root\n");                                     \
			skip();                                                                    \
		}                                                                                  \
	} while (0)

/* Returns a CPU number that no machine has and no other test uses. */
static int some_cpu(void)
{
	static int n;

	return 1000000 + (int)getpid() * 10 + n++;
}

enum how { TAKES, SQUATS, SQUATS_DEAF };

/* Runs in the child: holds the lock's name until the child is killed. */
static void hold(int cpu, enum how how, int ready_fd)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct bb_cpu_holder holder;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "bpfbench-cpu%d", cpu);
	socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
	bool ok;

	if (how == TAKES)
		ok = !bb_cpu_lock__take(cpu, &holder);
	else
		ok = !setgid(NOBODY) && !setuid(NOBODY) && !bind(fd, (struct sockaddr *)&a, len) &&
		     (how == SQUATS_DEAF || !listen(fd, 0));
	if (write(ready_fd, ok ? "y" : "n", 1) == 1)
		pause();
	_exit(0);
}

static pid_t held(int cpu, enum how how)
{
	char answer = 0;
	int ready[2];
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0)
		hold(cpu, how, ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &answer, 1), 1);
	close(ready[0]);
	assert_int_equal(answer, 'y');
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_nobody_has_it(void **state)
{
	struct bb_cpu_holder holder;

	(void)state;
	assert_int_equal(bb_cpu_lock__take(some_cpu(), &holder), 0);
	assert_int_equal(holder.fd, -1);
}

static void test_held(void **state)
{
	struct bb_cpu_holder holder;
	int cpu = some_cpu();
	pid_t pid;

	(void)state;
	need_root();
	pid = held(cpu, TAKES);
	assert_int_equal(bb_cpu_lock__take(cpu, &holder), -EBUSY);
	assert_int_equal(holder.pid, pid);
	assert_non_null(strstr(holder.command, "test_cpu_lock"));

	bb_stop_signal = SIGINT; /* A stop signal ends the wait. */
	assert_int_equal(bb_cpu_holder__wait(&holder), -EINTR);
	bb_stop_signal = 0;

	end(pid); /* The end of the holder ends the wait, too, and releases the lock. */
	assert_int_equal(bb_cpu_holder__wait(&holder), 0);
	bb_close(&holder.fd);
	assert_int_equal(bb_cpu_lock__take(cpu, &holder), 0);
}

/* The holder has ended, but a child of it still holds the lock. The command is then shown as "...,
 * ending" and not as "()". */
static void test_holder_gone(void **state)
{
	struct bb_cpu_holder holder;
	int cpu = some_cpu(), alive[2];
	siginfo_t info;
	pid_t pid;

	(void)state;
	need_root();
	assert_int_equal(pipe(alive), 0);
	pid = fork();
	if (pid == 0) {
		bool ok = !bb_cpu_lock__take(cpu, &holder);

		close(alive[1]);
		if (ok && fork() == 0) /* until the test closes the pipe */
			_exit(read(alive[0], &ok, 1) > 0);
		_exit(!ok);
	}
	close(alive[0]);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(bb_cpu_lock__take(cpu, &holder), -EBUSY);
	assert_int_equal(holder.pid, pid);
	assert_string_equal(holder.command, "test_cpu_lock, ending");
	bb_close(&holder.fd);

	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(bb_cpu_lock__take(cpu, &holder), -EBUSY);
	assert_string_equal(holder.command, "ended; a child of it still has the lock");
	bb_close(&holder.fd);
	close(alive[1]);
}

/* Any user can take the name. bpfbench does not wait for a holder that is not root. */
static void test_squatters(void **state)
{
	static const enum how ways[] = {SQUATS, SQUATS_DEAF};

	(void)state;
	need_root();
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct bb_cpu_holder holder;
		int cpu = some_cpu();
		pid_t pid = held(cpu, ways[i]);

		assert_int_equal(bb_cpu_lock__take(cpu, &holder), -EADDRINUSE);
		assert_int_equal(holder.fd, -1);
		end(pid);
		assert_int_equal(bb_cpu_lock__take(cpu, &holder), 0);
	}
}

/* A user who takes the name and lets its queue of connections fill up keeps nobody waiting. */
static void test_full_queue(void **state)
{
	struct bb_cpu_holder holders[8];
	int cpu = some_cpu();
	pid_t pid;

	(void)state;
	need_root();
	pid = held(cpu, SQUATS);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(bb_cpu_lock__take(cpu, &holders[i]), -EADDRINUSE);
	end(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_has_it), cmocka_unit_test(test_held),
		cmocka_unit_test(test_holder_gone),   cmocka_unit_test(test_squatters),
		cmocka_unit_test(test_full_queue),
	};

	return cmocka_run_group_tests_name("cpu_lock", tests, NULL, NULL);
}
