/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/call_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/environment.h"
#include "base/open_files.h"
#include "base/process.h"
#include "fire/fork_as.h"

#define NOBODY 65534
#define START_S 20.0 /* a machine may be slow, and a library large */
#define LOOK_MS 100

/* --- the child --- */

/* Of the program to execute, opened while we may still look into every folder. */
#define PROGRAM_FD 3

static int settle(const struct bb_fire_user *u, const char *program, int fd, pid_t parent)
{
	const struct bb_child_rules rules = {.signals = BB_SIGNALS_DEFAULT,
					     .uid = u->uid ? u->uid : NOBODY,
					     .gid = u->uid ? u->gid : NOBODY,
					     .no_new_privs = true,
					     .parent = parent};
	const struct rlimit no_core = {0, 0};
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), program_fd, rc;

	if (null_fd < 0 || dup2(fd, 0) < 0 || dup2(null_fd, 1) < 0 || dup2(null_fd, 2) < 0)
		return -errno;
	program_fd = open(program, O_PATH | O_CLOEXEC);
	if (program_fd < 0)
		return -errno;
	if (program_fd != PROGRAM_FD && dup3(program_fd, PROGRAM_FD, O_CLOEXEC) < 0)
		return -errno;
	closefrom(PROGRAM_FD + 1);
	setrlimit(RLIMIT_CORE, &no_core);
	setsid();
	rc = bb_environment__clean(u->env, rules.uid);
	return rc ? rc : bb_child__settle(&rules);
}

static void run_child(const struct bb_fire_user *u, char **argv, int fd, pid_t parent)
{
	int rc = settle(u, argv[0], fd, parent);

	if (!rc) {
		bb_open_files__as_given();
		fexecve(PROGRAM_FD, argv, environ);
		rc = -errno;
	}
	send(0, strerror(-rc), strlen(strerror(-rc)), MSG_NOSIGNAL);
	_exit(1);
}

/* --- its command line --- */

static char *argument_text(const struct bb_argument *a)
{
	char *text = NULL;
	int n = -1;

	switch (a->kind) {
	case BB_ARGUMENT_NUMBER: n = asprintf(&text, "n%lld", (long long)a->number); break;
	case BB_ARGUMENT_REAL: n = asprintf(&text, "r%.17g", a->real); break;
	case BB_ARGUMENT_TEXT: n = asprintf(&text, "t%s", a->text); break;
	case BB_ARGUMENT_BUFFER: n = asprintf(&text, "b%lld", (long long)a->number); break;
	}
	return n < 0 ? NULL : text;
}

static void free_argv(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

static char **make_argv(const struct bb_fire_user *u, const char *library,
			const struct bb_fired_by *by)
{
	char **argv = calloc(by->n_arguments + 4, sizeof(*argv));
	bool ok = argv && asprintf(&argv[0], "%s/call_function", u->helper_dir) >= 0;

	if (ok) {
		argv[1] = strdup(library);
		argv[2] = argv[1] ? strdup(by->call) : NULL;
		ok = argv[2] != NULL;
	}
	for (size_t i = 0; ok && i < by->n_arguments; i++) {
		argv[3 + i] = argument_text(&by->arguments[i]);
		ok = argv[3 + i] != NULL;
	}
	if (ok)
		return argv;
	free_argv(argv);
	return NULL;
}

/* --- ours --- */

/* Its first message: empty when all is well. */
static int wait_for_it(struct bb_call_child *c, const char *library, const char *function,
		       struct bb_err *err)
{
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	uint64_t began_ns = bb_now_ns();
	char why[300];
	ssize_t n;

	while (poll(&p, 1, LOOK_MS) <= 0) {
		int rc = bb_must_end_why();

		if (rc)
			return rc;
		if (bb_seconds_since(began_ns) > START_S)
			return bb_fail(err, -ENOTSUP, "%s was not loaded within %g s", library,
				       START_S);
	}
	n = recv(c->fd, why, sizeof(why) - 1, 0);
	if (n > 0) {
		why[n] = '\0';
		return bb_fail(err, -ENOTSUP, "'%s' of %s cannot be called: %s", function, library,
			       why);
	}
	/* an empty message is all right; so looks the end of the socket, when there is nobody */
	bb_call_child__say_end(c, why, sizeof(why));
	return !why[0] ? 0 : bb_fail(err, -ENOTSUP, "%s: loading it %s", library, why);
}

int bb_call_child__start(const struct bb_fire_user *user, const char *library,
			 const struct bb_fired_by *by, pid_t pid, struct bb_call_child *ret_child,
			 struct bb_err *err)
{
	struct bb_call_child c = {.fd = -1};
	pid_t parent = getpid();
	char **argv;
	int fd[2], rc;

	if (!user->helper_dir)
		return bb_fail(err, -ENOTSUP, "the program call_function is not there: make all");
	argv = make_argv(user, library, by);
	if (!argv)
		return bb_fail_nomem(err);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)) {
		rc = -errno;
		free_argv(argv);
		return bb_fail(err, rc, "socketpair: %s", strerror(-rc));
	}
	c.fd = fd[0];
	c.pid = bb_fork_as(pid);
	if (!c.pid)
		run_child(user, argv, fd[1], parent);
	close(fd[1]);
	free_argv(argv);
	rc = c.pid < 0
		     ? bb_fail(err, -errno, "starting the process that calls%s: %s",
			       pid ? " by the pid that the program was told" : "", strerror(errno))
		     : wait_for_it(&c, library, by->call, err);
	if (rc)
		bb_call_child__stop(&c);
	else
		*ret_child = c;
	return rc;
}

void bb_call_child__stop(struct bb_call_child *c)
{
	if (c->pid > 0) {
		kill(c->pid, SIGKILL);
		bb_wait_for(c->pid);
	}
	if (c->fd > 0)
		close(c->fd);
	*c = (struct bb_call_child){.fd = -1};
}

int bb_call_child__call(int fd)
{
	char byte = 0;

	if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return -errno;
	return recv(fd, &byte, 1, 0) == 1 ? 0 : -EPIPE;
}

void bb_call_child__say_end(struct bb_call_child *c, char *ret_words, size_t size)
{
	int status;

	ret_words[0] = '\0';
	if (c->pid <= 0)
		return;
	/* its socket closes a moment before it can be waited for */
	for (int i = 0; i < 20 && recv(c->fd, &status, 1, MSG_PEEK | MSG_DONTWAIT) == 0; i++) {
		if (waitpid(c->pid, &status, WNOHANG) == c->pid) {
			c->pid = 0;
			break;
		}
		usleep(5000);
	}
	if (c->pid)
		return;
	snprintf(ret_words, size, "%s", bb_how_ended(status).text);
}
