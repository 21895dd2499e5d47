/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each kind of child process: its descriptors, rights and signals, and whether it dies with us. */
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
#include "base/confine.h"
#include "base/io.h"
#include "drivers/child.h"

#define NOBODY 65534
#define OUR_FD 50
#define OUR_SIGNAL SIGUSR1 /* ignored by us */

enum how { PLAIN, COMMAND, BUILD, GUARD, CONFINED, WORKER };

static const struct kind {
	const char *name;
	enum how how;
	bool dies, no_new_privs, keeps_files, is_nobody, ignores;
} kinds[] = {
	{"a part of a run", PLAIN, true, false, true, false, true},
	{"a command that is profiled", COMMAND, true, false, true, true, false},
	{"git and builds", BUILD, true, true, true, true, false},
	{"a guard", GUARD, false, false, true, false, true},
	{"a reader of other people's files", CONFINED, true, true, false, true, true},
	{"a workload", WORKER, true, false, true, true, true},
};

/* Both processes see it. */
static struct {
	volatile pid_t pid;
	volatile bool is_settled;
	volatile int rc;
} * shared;

static int settle(enum how how, pid_t parent)
{
	const struct bb_child_place place = {.cpu = sched_getcpu(), .uid = NOBODY, .gid = NOBODY};
	const struct bb_child_rules rules[] = {
		[PLAIN] = {.parent = parent},
		[COMMAND] = {BB_SIGNALS_DEFAULT, NOBODY, NOBODY, false, parent},
		[BUILD] = {BB_SIGNALS_DEFAULT, NOBODY, NOBODY, true, parent},
		[GUARD] = {.signals = BB_SIGNALS_IGNORED},
	};
	int none = -1;

	if (how == CONFINED)
		return bb_confine(&none, 1, parent);
	return how == WORKER ? bb_child__prepare(&place, parent) : bb_child__settle(&rules[how]);
}

/* In between, so that the child's parent can end. */
static __attribute__((noreturn)) void be_parent(const struct kind *k)
{
	pid_t self = getpid();

	signal(OUR_SIGNAL, SIG_IGN);
	dup2(open("/dev/null", O_RDONLY), OUR_FD);
	if (fork())
		for (;;)
			pause();
	shared->pid = getpid();
	shared->rc = settle(k->how, self);
	shared->is_settled = true;
	for (;;)
		sched_yield();
}

/* The number behind `key` in /proc/PID/status. */
static uint64_t status_of(pid_t pid, const char *key, int base)
{
	char path[64], *text, *at;
	uint64_t value;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	assert_int_equal(bb_read_proc(path, 65536, &text, &len, NULL), 0);
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
		be_parent(k);
	while (!shared->is_settled)
		usleep(1000);
	pid = shared->pid;
	assert_int_equal(shared->rc, 0);
	check_rights(k, pid);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	if (!k->dies) { /* it was SIGKILL that a child gets, and at once */
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
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

/* Whose parent has gone before does not begin. */
static void test_parent_has_gone(void **state)
{
	const struct bb_child_rules rules = {.parent = getpid()}; /* not who forked us */

	(void)state;
	assert_int_equal(bb_child__settle(&rules), -ESRCH);
	prctl(PR_SET_PDEATHSIG, 0);
}

/* A number, with a descriptor and without; then the other end has gone. */
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
		cmocka_unit_test(test_every_kind),
		cmocka_unit_test(test_parent_has_gone),
		cmocka_unit_test(test_descriptor),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	return shared == MAP_FAILED || cmocka_run_group_tests(tests, NULL, NULL);
}
