/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/stop.h"
#include "base/user.h"

#define WAIT_FIRST_NS 1000000 /* doubled each time, up to: */
#define WAIT_MOST_NS 50000000
#define GRACE_NS 2000000000 /* from SIGTERM to SIGKILL */
#define NOT_STARTED 127     /* a shell's exit code for "not found" */

/* git would obey these instead of the folder that it runs in, and make would look for another one's
 * jobserver. */
static void clear_environment(void)
{
	static const char *const names[] = {
		"GIT_ALTERNATE_OBJECT_DIRECTORIES",
		"GIT_COMMON_DIR",
		"GIT_CONFIG",
		"GIT_CONFIG_COUNT",
		"GIT_CONFIG_PARAMETERS",
		"GIT_DIR",
		"GIT_GRAFT_FILE",
		"GIT_IMPLICIT_WORK_TREE",
		"GIT_INDEX_FILE",
		"GIT_INTERNAL_SUPER_PREFIX",
		"GIT_NO_REPLACE_OBJECTS",
		"GIT_OBJECT_DIRECTORY",
		"GIT_PREFIX",
		"GIT_REPLACE_REF_BASE",
		"GIT_SHALLOW_FILE",
		"GIT_WORK_TREE",
		"MAKEFLAGS",
		"MAKELEVEL",
		"MFLAGS",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
}

static void name_user(uid_t uid)
{
	struct passwd *user = getpwuid(uid);

	if (!user)
		return;
	setenv("HOME", user->pw_dir, 1);
	setenv("USER", user->pw_name, 1);
	setenv("LOGNAME", user->pw_name, 1);
}

/* In the child: never returns. What fails is written to `report_fd` as an errno. */
static void run_child(const struct bb_process *p, int out_fd, int log_fd, int report_fd)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	int null_fd = open("/dev/null", O_RDONLY), rc;
	bool changes = geteuid() == 0 && p->uid != 0;
	pid_t parent = getppid();

	setpgid(0, 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_DFL);
	rc = null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(log_fd, 2) < 0
		     ? -errno
		     : 0;
	if (!rc)
		rc = bb_become_user(p->uid, p->gid);
	if (!rc && p->dir && chdir(p->dir))
		rc = -errno;
	/* After setuid, which clears it. If the parent was gone before, nobody will tell us. */
	if (!rc && prctl(PR_SET_PDEATHSIG, SIGKILL))
		rc = -errno;
	if (!rc && getppid() != parent)
		rc = -ESRCH;
	if (!rc) {
		clear_environment();
		if (changes)
			name_user(p->uid);
		execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
		rc = -errno;
	}
	if (write(report_fd, &rc, sizeof(rc)) < 0)
		_exit(NOT_STARTED);
	_exit(NOT_STARTED);
}

static void end_group(pid_t pid)
{
	struct timespec nap = {.tv_nsec = WAIT_MOST_NS};

	kill(-pid, SIGTERM);
	for (long long waited_ns = 0; waited_ns < GRACE_NS; waited_ns += WAIT_MOST_NS) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid)
			break;
		nanosleep(&nap, NULL);
	}
	/* What it left behind, too: before it is waited for, while its number cannot be another's.
	 */
	kill(-pid, SIGKILL);
}

/* Looks at the stop signal in between: waitpid() alone would sleep on if it came just before. */
static int wait_for(pid_t pid, int *ret_status)
{
	struct timespec nap = {.tv_nsec = WAIT_FIRST_NS};
	int status = 0;
	pid_t got;

	while (!(got = waitpid(pid, &status, WNOHANG))) {
		if (bb_stop_signal) {
			end_group(pid);
			while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
				;
			return -EINTR;
		}
		nanosleep(&nap, NULL);
		if (nap.tv_nsec < WAIT_MOST_NS)
			nap.tv_nsec *= 2;
	}
	if (got < 0)
		return -errno;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return 0;
}

/* What was written to a memfd; free() it. NULL: it could not be read. */
static char *read_all(int fd)
{
	struct stat st;
	size_t used = 0;
	char *text;

	if (fstat(fd, &st))
		return NULL;
	text = malloc((size_t)st.st_size + 1);
	while (text && used < (size_t)st.st_size) {
		ssize_t n = pread(fd, text + used, (size_t)st.st_size - used, (off_t)used);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	if (text)
		text[used] = '\0';
	return text;
}

/* Start it and wait for it. Its two outputs are memfds: nothing to empty meanwhile, and nothing to
 * remove. */
static int run(const struct bb_process *p, int out_fd, int log_fd, int *ret_status)
{
	int report[2], rc, child_rc = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		run_child(p, out_fd, log_fd, report[1]);
	rc = pid < 0 ? -errno : 0;
	close(report[1]);
	if (!rc) {
		setpgid(pid, pid); /* in both, as either may be first */
		do
			n = read(report[0], &child_rc, sizeof(child_rc));
		while (n < 0 && errno == EINTR);
		rc = wait_for(pid, ret_status);
		if (n > 0)
			rc = child_rc;
	}
	close(report[0]);
	return rc;
}

int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err)
{
	int out_fd = memfd_create("out", MFD_CLOEXEC), log_fd = memfd_create("log", MFD_CLOEXEC);
	struct bb_process_end end = {0};
	int rc = out_fd < 0 || log_fd < 0 ? -errno : 0;

	if (!rc)
		rc = run(p, out_fd, p->together ? out_fd : log_fd, &end.status);
	if (rc == -ENOENT && p->dir && access(p->dir, F_OK))
		bb_fail(err, rc, "%s: %s", p->dir, strerror(ENOENT));
	else if (rc == -ENOENT)
		bb_fail(err, rc, "no '%s' in $PATH: install it", p->argv[0]);
	else if (rc == -EINTR && bb_stop_signal)
		bb_fail(err, rc, "stopped by signal %d (%s)", (int)bb_stop_signal,
			strsignal(bb_stop_signal));
	else if (rc)
		bb_fail(err, rc, "%s cannot be run: %s", p->argv[0], strerror(-rc));
	if (!rc) {
		end.out = read_all(out_fd);
		end.log = read_all(log_fd);
		if (!end.out || !end.log)
			rc = bb_fail_nomem(err);
	}
	if (out_fd >= 0)
		close(out_fd);
	if (log_fd >= 0)
		close(log_fd);
	if (rc)
		bb_process_end__done(&end);
	else
		*ret_end = end;
	return rc;
}

void bb_process_end__done(struct bb_process_end *end)
{
	free(end->out);
	free(end->log);
	*end = (struct bb_process_end){0};
}
