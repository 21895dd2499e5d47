/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/child.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/process.h"
#include "drivers/driver.h"

enum { CONTROL_FD = 3, SOCKET_FD = 4, FIRST_FREE_FD = 5 }; /* of a helper */

/*
 * Ahead of what else runs on its CPU, or a busy machine leaves too few samples. A nice value counts
 * within a session only where there is sched_autogroup, so the child has a session of its own, and
 * that one is nice too (sched(7)).
 */
static void run_ahead_of_others(void)
{
	int fd;

	setsid();
	setpriority(PRIO_PROCESS, 0, -20);
	fd = bb_root__open("/proc/self/autogroup", O_WRONLY);
	if (fd >= 0 && write(fd, "-20", 3) < 0)
		errno = 0; /* no autogroups: the nice value does */
	if (fd >= 0)
		close(fd);
}

int bb_child__prepare(const struct bb_child_place *place, pid_t parent)
{
	const struct bb_child_rules rules = {.uid = place->uid,
					     .gid = place->gid,
					     .parent = parent};
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	int rc = null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(null_fd, 1) < 0 ? -errno : 0;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	run_ahead_of_others();
	if (!rc)
		rc = bb_pin_to_cpu(place->cpu, NULL);
	return rc ? rc : bb_child__settle(&rules);
}

void bb_child__stop(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(-*pid, SIGKILL);
	kill(*pid, SIGKILL);
	bb_wait_for(*pid);
	*pid = 0;
}

/* The two descriptors of a helper at their places, and no other: a program or link that it held
 * would outlive us. */
static int keep_only(int control_fd, int socket_fd)
{
	int control = fcntl(control_fd, F_DUPFD, FIRST_FREE_FD),
	    sock = fcntl(socket_fd, F_DUPFD, FIRST_FREE_FD);

	if (control < 0 || sock < 0 || dup2(control, CONTROL_FD) < 0 || dup2(sock, SOCKET_FD) < 0)
		return -errno;
	closefrom(FIRST_FREE_FD);
	return 0;
}

/* In the child: never returns. It says 0 or -errno to the parent before it begins. */
static void run_helper(const struct bb_child_place *place, const struct bb_worker_task *work,
		       int control_fd, pid_t parent)
{
	int socket_fd = -1, rc = setns(work->netns_fd, CLONE_NEWNET) ? -errno : 0;

	const struct sched_param first = {.sched_priority = 1};

	if (!rc)
		rc = work->open(work->arg, &socket_fd);
	/* Before the others: it does little and sleeps long. Where that is not permitted,
	 * settle()'s nice value has to do. */
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	if (!rc)
		rc = bb_child__prepare(place, parent);
	if (!rc)
		rc = keep_only(control_fd, socket_fd);
	if (send(rc ? control_fd : CONTROL_FD, &rc, sizeof(rc), MSG_NOSIGNAL) == sizeof(rc) && !rc)
		work->work(work->arg, SOCKET_FD, CONTROL_FD);
	_exit(0);
}

int bb_worker__start(const struct bb_child_place *place, const struct bb_worker_task *work,
		     struct bb_worker *ret_helper, struct bb_err *err)
{
	struct bb_worker h = {0};
	pid_t parent = getpid();
	int fds[2], rc, said = -EPIPE;
	ssize_t n;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		rc = -errno;
		return bb_fail(err, rc, "starting %s: %s", work->name, strerror(-rc));
	}
	h.pid = fork();
	if (h.pid == 0) {
		close(fds[0]);
		run_helper(place, work, fds[1], parent);
	}
	rc = h.pid < 0 ? -errno : 0;
	h.fd = fds[0];
	close(fds[1]);
	do
		n = rc ? 0 : recv(h.fd, &said, sizeof(said), 0);
	while (n < 0 && errno == EINTR);
	if (!rc)
		rc = n == sizeof(said) ? said : -EPIPE;
	if (!rc) {
		*ret_helper = h;
		return 0;
	}
	close(h.fd);
	bb_child__stop(&h.pid);
	return bb_fail(err, rc, "%s cannot be started: %s", work->name, strerror(-rc));
}

void bb_worker__stop(struct bb_worker *h)
{
	if (h->pid > 0)
		close(h->fd);
	bb_child__stop(&h->pid);
}
