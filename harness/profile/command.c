/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/environment.h"
#include "base/open_files.h"
#include "base/process.h"

#define TERM_MS 2000 /* what it has to end by itself */

/* In the child: never returns. */
static void run_child(char *const *argv, const char *const *env, uid_t uid, gid_t gid, int go_fd,
		      int failed_fd, pid_t parent)
{
	const struct bb_child_rules rules = {BB_SIGNALS_DEFAULT, uid, gid, false, parent};
	char go;
	int rc = dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ? -errno : bb_environment__clean(env, uid);

	if (!rc)
		rc = bb_child__settle(&rules);
	if (rc == -ESRCH || (!rc && read(go_fd, &go, 1) != 1))
		_exit(127); /* nobody is there to tell */
	if (!rc) {
		bb_open_files__as_given();
		execvp(argv[0], argv);
		rc = -errno;
	}
	if (write(failed_fd, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

int bb_command__fork(char *const *argv, const char *const *env, uid_t uid, gid_t gid,
		     struct bb_command *ret_command, struct bb_err *err)
{
	pid_t parent = getpid(), pid = -1;
	int go[2], failed[2], rc = pipe2(go, O_CLOEXEC) ? -errno : 0;

	if (!rc && pipe2(failed, O_CLOEXEC)) {
		rc = -errno;
		close(go[0]);
		close(go[1]);
	}
	if (rc)
		return bb_fail(err, rc, "cannot start '%s': %s", argv[0], strerror(-rc));
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		run_child(argv, env, uid, gid, go[0], failed[1], parent);
	}
	rc = pid < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	if (rc) {
		close(go[1]);
		close(failed[0]);
		return bb_fail(err, rc, "cannot start '%s': %s", argv[0], strerror(-rc));
	}
	*ret_command = (struct bb_command){.pid = pid, .go_fd = go[1], .failed_fd = failed[0]};
	return 0;
}

static void close_pipes(struct bb_command *c)
{
	if (c->go_fd >= 0)
		close(c->go_fd);
	if (c->failed_fd >= 0)
		close(c->failed_fd);
	c->go_fd = c->failed_fd = -1;
}

int bb_command__go(struct bb_command *c, const char *name, struct bb_err *err)
{
	int rc = 0;
	ssize_t n;

	if (write(c->go_fd, "g", 1) < 0)
		rc = -errno; /* it died as it waited: has_ended() will say so */
	close(c->go_fd);
	c->go_fd = -1;
	do
		n = read(c->failed_fd, &rc, sizeof(rc)); /* its end is closed by the exec */
	while (n < 0 && errno == EINTR);
	close_pipes(c);
	if (n == (ssize_t)sizeof(rc))
		return bb_fail(err, rc, "cannot run '%s': %s", name, strerror(-rc));
	return 0;
}

bool bb_command__has_ended(struct bb_command *c)
{
	if (c->pid && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->pid = 0;
	return !c->pid;
}

void bb_command__end(struct bb_command *c)
{
	const struct timespec step = {.tv_nsec = 10000000};

	close_pipes(c);
	if (bb_command__has_ended(c))
		return;
	kill(c->pid, SIGTERM);
	kill(c->pid, SIGCONT);
	for (int waited_ms = 0; waited_ms < TERM_MS && !bb_command__has_ended(c); waited_ms += 10)
		nanosleep(&step, NULL);
	if (!c->pid)
		return;
	kill(c->pid, SIGKILL);
	c->status = bb_wait_for(c->pid);
	c->pid = 0;
}
