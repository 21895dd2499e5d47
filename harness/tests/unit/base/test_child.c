/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of child process: its descriptors, rights and signals, and whether it dies with its
 * parent. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/io.h"

#define NOBODY 65534
#define OUR_FD 50
#define OUR_SIGNAL SIGUSR1 /* the parent ignores it */

static const struct kind {
	const char *name;
	struct bb_child_rules rules;
	bool dies, no_new_privs, keeps_files, is_nobody, ignores;
} kinds[] = {
	{"a part of a run", {.link = BB_LINK_FROM_CHILD}, true, false, true, false, true},
	{"a command that is profiled",
	 {.signals = BB_SIGNALS_DEFAULT, .is_program = true, .uid = NOBODY, .gid = NOBODY},
	 true,
	 false,
	 true,
	 true,
	 false},
	{"git and builds",
	 {.signals = BB_SIGNALS_DEFAULT,
	  .own_session = true,
	  .is_program = true,
	  .std = {BB_STD_NULL},
	  .uid = NOBODY,
	  .gid = NOBODY,
	  .no_new_privs = true},
	 true,
	 true,
	 true,
	 true,
	 false},
	{"their keeper", {.own_namespaces = true}, true, false, true, false, true},
	{"a command that is captured",
	 {.link = BB_LINK_SOCKET,
	  .signals = BB_SIGNALS_DEFAULT,
	  .is_program = true,
	  .outlives = true},
	 false,
	 false,
	 true,
	 false,
	 false},
	{"a guard",
	 {.link = BB_LINK_TO_CHILD,
	  .signals = BB_SIGNALS_IGNORED,
	  .own_session = true,
	  .closes_others = true,
	  .outlives = true},
	 false,
	 false,
	 false,
	 false,
	 true},
	{"a reader of other people's files",
	 {.signals = BB_SIGNALS_OF_FAULTS, .confinement = BB_CONFINED},
	 true,
	 true,
	 false,
	 true,
	 false},
	{"a trial",
	 {.signals = BB_SIGNALS_OF_FAULTS, .confinement = BB_CONFINED_TRIAL},
	 true,
	 true,
	 false,
	 true,
	 false},
	{"a symbolizer",
	 {.link = BB_LINK_SOCKET, .confinement = BB_CONFINED},
	 true,
	 true,
	 false,
	 true,
	 true},
	{"a workload",
	 {.signals = BB_SIGNALS_DEFAULT,
	  .own_session = true,
	  .is_program = true,
	  .uid = NOBODY,
	  .gid = NOBODY},
	 true,
	 false,
	 true,
	 true,
	 false},
	{"a worker",
	 {.link = BB_LINK_SOCKET,
	  .signals = BB_SIGNALS_DEFAULT,
	  .own_session = true,
	  .closes_others = true,
	  .uid = NOBODY,
	  .gid = NOBODY},
	 true,
	 false,
	 false,
	 true,
	 false},
	{"a process that fires",
	 {.link = BB_LINK_SOCKET, .name = "x"},
	 true,
	 false,
	 true,
	 false,
	 true},
	{"a called function",
	 {.link = BB_LINK_SOCKET,
	  .signals = BB_SIGNALS_DEFAULT,
	  .no_core = true,
	  .is_program = true,
	  .std = {BB_STD_LINK, BB_STD_NULL, BB_STD_NULL},
	  .closes_others = true,
	  .uid = NOBODY,
	  .gid = NOBODY,
	  .no_new_privs = true},
	 true,
	 true,
	 false,
	 true,
	 false},
};

/* Shared memory between the test and its child processes. */
static struct {
	volatile pid_t pid;
	volatile int rc;
	volatile bool is_started, has_run;
} * shared;

static int spin(void *arg, int link_fd)
{
	(void)arg;
	(void)link_fd;
	while (shared)
		sched_yield();
	return 0;
}

/* A process between the test and the child, so that the child's parent can end before the test. */
static __attribute__((noreturn)) void be_parent(const struct bb_child_rules *r)
{
	struct bb_child c;

	signal(OUR_SIGNAL, SIG_IGN);
	dup2(open("/dev/null", O_RDONLY), OUR_FD);
	shared->rc = bb_child__start(r, spin, NULL, &c);
	shared->pid = c.pid;
	shared->is_started = true;
	for (;;)
		pause();
}

/* Returns the number behind `key` in /proc/PID/status. */
static uint64_t status_of(pid_t pid, const char *key, int base)
{
	char path[64], *text, *at;
	uint64_t value;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(bb_read_proc(path, 65536, &text, &len), 0);
	at = strstr(text, key);
	assert_non_null(at);
	value = strtoull(at + strlen(key), NULL, base);
	free(text);
	return value;
}

static bool has_file(pid_t pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return !lstat(path, &st);
}

static void check_rights(const struct kind *k, pid_t pid)
{
	uint64_t ours = (uint64_t)1 << (OUR_SIGNAL - 1);

	assert_int_equal(status_of(pid, "NoNewPrivs:", 10), k->no_new_privs);
	assert_int_equal(status_of(pid, "Uid:", 10) == NOBODY, k->is_nobody);
	assert_int_equal(status_of(pid, "CapEff:", 16) == 0, k->is_nobody);
	assert_int_equal(has_file(pid, OUR_FD), k->keeps_files);
	assert_int_equal((status_of(pid, "SigIgn:", 16) & ours) != 0, k->ignores);
	assert_int_equal(status_of(pid, "SigCgt:", 16) & ours, 0);
}

static void check_kind(const struct kind *k)
{
	pid_t parent, pid;
	int status = 0;

	print_message("%s\n", k->name);
	memset(shared, 0, sizeof(*shared));
	parent = fork();
	if (!parent)
		be_parent(&k->rules);
	while (!shared->is_started)
		usleep(1000);
	pid = shared->pid;
	assert_int_equal(shared->rc, 0);
	check_rights(k, pid);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	if (!k->dies) { /* a child that dies with its parent gets SIGKILL at once */
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		if (k->ignores)
			kill(pid, SIGTERM);
		usleep(1000);
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		kill(pid, SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void test_every_kind(void **state)
{
	(void)state;
	if (geteuid()) {
		print_message("skipped: it takes root to become somebody else\n");
		skip();
	}
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check_kind(&kinds[i]);
}

static int kill_parent(void *arg)
{
	pid_t parent = getppid();

	(void)arg;
	shared->pid = getpid();
	kill(parent, SIGKILL);
	while (getppid() == parent)
		usleep(1000);
	return 0;
}

static int run(void *arg, int link_fd)
{
	(void)arg;
	(void)link_fd;
	shared->has_run = true;
	return 0;
}

/* A child does not begin to run if its parent has ended before the child's rules are in force. */
static void test_parent_has_gone(void **state)
{
	static const struct bb_child_rules rules = {.before = kill_parent};
	struct bb_child c;
	pid_t parent;

	(void)state;
	memset(shared, 0, sizeof(*shared));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	parent = fork();
	if (!parent)
		bb_child__start(&rules, run, NULL, &c);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(waitpid(shared->pid, NULL, 0), shared->pid);
	assert_false(shared->has_run);
}

static int fail_before(void *arg)
{
	return *(int *)arg;
}

static int execute(void *arg, int link_fd)
{
	(void)link_fd;
	execl(arg, arg, (char *)NULL);
	return -errno;
}

/* `before` fails, exec fails, and a program runs. No process is left in any of these cases. */
static void test_failures(void **state)
{
	static const struct bb_child_rules fails = {.before = fail_before},
					   program = {.is_program = true};
	struct bb_child c;
	int rc = -EXFULL;

	(void)state;
	memset(shared, 0, sizeof(*shared));
	assert_int_equal(bb_child__start(&fails, run, &rc, &c), -EXFULL);
	assert_int_equal(c.pid, 0);
	assert_false(shared->has_run);
	assert_int_equal(bb_child__start(&program, execute, "/nowhere", &c), 0);
	assert_int_equal(bb_child__executed(&c), -ENOENT);
	assert_int_equal(WEXITSTATUS(bb_wait_for(c.pid)), 127);
	assert_int_equal(bb_child__start(&program, execute, "/bin/false", &c), 0);
	assert_int_equal(bb_child__executed(&c), 0);
	assert_string_equal(bb_how_ended(bb_wait_for(c.pid)).text, "ended with exit code 1");
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static int say_descriptors(void *arg, int link_fd)
{
	char text[64];
	int n = 0;

	(void)arg;
	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0 && fd != link_fd)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%d ", fd);
	return write(link_fd, text, (size_t)n) != n;
}

/* A child keeps the descriptors that its rules name, and no others. */
static void test_kept_descriptors(void **state)
{
	int kept = OUR_FD;
	const struct bb_child_rules rules = {.link = BB_LINK_FROM_CHILD,
					     .std = {BB_STD_NULL},
					     .closes_others = true,
					     .keep = &kept,
					     .n_keep = 1};
	struct bb_child c;
	char text[64] = "";

	(void)state;
	assert_int_equal(dup2(open("/dev/null", O_RDONLY), OUR_FD), OUR_FD);
	assert_int_equal(bb_child__start(&rules, say_descriptors, NULL, &c), 0);
	assert_true(read(c.fd, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "0 1 2 50 ");
	bb_child__stop(&c);
	close(OUR_FD);
}

/* Sends a number with a descriptor and one without; then the other end is closed. */
static void test_descriptor(void **state)
{
	int ends[2], fd = -1, number = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
	assert_int_equal(bb_descriptor__send(ends[0], 3, ends[0]), 0);
	assert_int_equal(bb_descriptor__send(ends[0], -ENOENT, -1), 0);
	assert_int_equal(bb_descriptor__receive(ends[1], &number, &fd), 0);
	assert_int_equal(number, 3);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	assert_int_equal(bb_descriptor__receive(ends[1], &number, &fd), 0);
	assert_int_equal(number, -ENOENT);
	assert_int_equal(fd, -1);
	close(ends[0]);
	assert_int_equal(bb_descriptor__receive(ends[1], &number, &fd), -EPIPE);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_kind), cmocka_unit_test(test_parent_has_gone),
		cmocka_unit_test(test_failures),   cmocka_unit_test(test_kept_descriptors),
		cmocka_unit_test(test_descriptor),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
