/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/process.h"

static int open_program_at(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int open_in(const char *dir, size_t dir_len, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s/%s", (int)dir_len, dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return open_program_at(path);
}

/*
 * The program, opened by us: the user it is to run as need not be able to walk to it. Not a
 * directory search of our own making: the order is ours (build folder), then $PATH. -ENOENT when it
 * is nowhere; of a file that is there and cannot be opened, why.
 */
static int open_program(const struct bb_workload_spec *spec)
{
	const char *path = spec->path ? spec->path : getenv("PATH");
	int fd = -ENOENT, why = -ENOENT;

	if (strchr(spec->program, '/'))
		return open_program_at(spec->program);
	if (spec->dir)
		fd = open_in(spec->dir, strlen(spec->dir), spec->program);
	while (fd < 0 && path && *path) {
		const char *end = strchrnul(path, ':');

		if (fd != -ENOENT && fd != -ENOTDIR)
			why = fd;
		fd = open_in(path, (size_t)(end - path), spec->program);
		path = *end ? end + 1 : NULL;
	}
	if (fd == -ENOENT || fd == -ENOTDIR)
		fd = why;
	return fd;
}

/* In the child: never returns. What fails is written to `report_fd` as an errno. */
static void run_child(const struct bb_workload_spec *spec, pid_t parent, int program_fd,
		      int report_fd, char **argv)
{
	extern char **environ;
	int rc = bb_environment__clean(spec->place.env, spec->place.uid);

	if (!rc && spec->path && setenv("PATH", spec->path, 1))
		rc = -ENOMEM;
	if (!rc)
		rc = bb_child__prepare(&spec->place, parent);

	if (!rc && spec->is_held)
		raise(SIGSTOP);
	if (!rc) {
		fexecve(program_fd, argv, environ);
		rc = -errno;
		/* a script: its interpreter has to open it by name, which close-on-exec forbids */
		if (rc == -ENOENT) {
			fcntl(program_fd, F_SETFD, 0);
			fexecve(program_fd, argv, environ);
			rc = -errno;
		}
	}
	if (write(report_fd, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

static int say_cannot_start(const struct bb_workload_spec *spec, int rc, struct bb_err *err)
{
	if (rc == -ENOENT && spec->path)
		return bb_fail(err, rc, "'%s' not found in %s: install it", spec->program,
			       spec->path);
	if (rc == -ENOENT)
		return bb_fail(err, rc,
			       "workload '%s' not found%s%s; build it, or give its path in the "
			       "scenario",
			       spec->program, spec->dir ? ": neither in $PATH nor in " : "",
			       spec->dir ? spec->dir : "");
	return bb_fail(err, rc, "workload '%s' cannot be started as uid %u: %s", spec->program,
		       (unsigned int)spec->place.uid, strerror(-rc));
}

/* Until it stands still: true. False: it has ended instead, and is still to be waited for. */
static bool wait_until_held(pid_t pid)
{
	siginfo_t info = {0};
	int rc;

	do
		rc = waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT);
	while (rc && errno == EINTR);
	return !rc && info.si_code == CLD_STOPPED;
}

int bb_workload__start(const struct bb_workload_spec *spec, struct bb_workload *ret_workload,
		       struct bb_err *err)
{
	char **argv = calloc(spec->n_args + 2, sizeof(*argv));
	int program_fd = open_program(spec), report[2] = {-1, -1}, rc = 0, child_rc = 0;
	ssize_t n;
	pid_t pid, parent = getpid();

	if (program_fd < 0 || !argv) {
		rc = argv ? program_fd : -ENOMEM;
		free(argv);
		if (program_fd >= 0)
			close(program_fd);
		return say_cannot_start(spec, rc, err);
	}
	argv[0] = (char *)(uintptr_t)spec->program;
	for (size_t i = 0; i < spec->n_args; i++)
		argv[i + 1] = spec->args[i];
	rc = pipe2(report, O_CLOEXEC) ? -errno : 0;
	pid = rc ? -1 : fork();
	if (pid == 0)
		run_child(spec, parent, program_fd, report[1], argv);
	if (!rc && pid < 0)
		rc = -errno;
	free(argv);
	close(program_fd);
	if (report[1] >= 0)
		close(report[1]);
	if (rc) {
		if (report[0] >= 0)
			close(report[0]);
		return say_cannot_start(spec, rc, err);
	}
	if (spec->is_held && wait_until_held(pid)) {
		close(report[0]);
		ret_workload->pid = pid;
		return 0;
	}
	do
		n = read(report[0], &child_rc, sizeof(child_rc));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n > 0) {
		bb_wait_for(pid);
		return say_cannot_start(spec, child_rc, err);
	}
	ret_workload->pid = pid;
	return 0;
}

int bb_workload__ended(struct bb_workload *w, const char *program, struct bb_err *err)
{
	siginfo_t info = {0};
	int status = 0;
	pid_t pid;

	if (!waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == 0)
		return 0;
	/* What it started and left behind goes too. Before it is waited for, while its number
	 * cannot be another's. */
	kill(-w->pid, SIGKILL);
	pid = waitpid(w->pid, &status, WNOHANG);
	w->pid = 0;
	if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 1;
	return bb_fail(err, -ECHILD, "workload '%s' died midway: it %s", program,
		       bb_how_ended(status).text);
}

void bb_workload__pause(const struct bb_workload *w)
{
	if (w->pid > 0)
		kill(-w->pid, SIGSTOP);
}

void bb_workload__resume(const struct bb_workload *w)
{
	if (w->pid > 0)
		kill(-w->pid, SIGCONT);
}

void bb_workload__stop(struct bb_workload *w)
{
	bb_child__stop(&w->pid);
}

double bb_workload__cpu_s(const struct bb_workload *w)
{
	struct timespec t;
	clockid_t clock;

	if (w->pid <= 0 || clock_getcpuclockid(w->pid, &clock) || clock_gettime(clock, &t))
		return NAN;
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
