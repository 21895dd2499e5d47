/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/workload.h"

#include <linux/perf_event.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"
#include "bpf/attach.h"
#include "drivers/driver.h"

/* Gives this process priority over others on its CPU; otherwise a busy machine leaves too few
 * samples. With sched_autogroup a nice value counts only within a session, so the session gets one,
 * too (sched(7)). */
static void run_ahead_of_others(void)
{
	int fd;

	setpriority(PRIO_PROCESS, 0, -20);
	fd = bb_root__open("/proc/self/autogroup", O_WRONLY);
	if (fd >= 0 && write(fd, "-20", 3) < 0)
		errno = 0; /* without autogroups the nice value suffices */
	bb_close(&fd);
}

int bb_child_place__take(const struct bb_child_place *place)
{
	run_ahead_of_others();
	return bb_pin_to_cpu(place->cpu, NULL);
}

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

/* Opens the program with our rights, because the user that the workload runs as may not be able to
 * reach its folder. Looks in `dir` first, then in $PATH. Returns a descriptor, -ENOENT if no folder
 * has the program, or the reason why a program that exists cannot be opened. */
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

struct start {
	const struct bb_workload_spec *spec;
	int program_fd;
	char **argv;
};

static int take_place(void *arg)
{
	const struct start *s = arg;

	return bb_child_place__take(&s->spec->place);
}

static int execute(void *arg, int)
{
	const struct start *s = arg;

	if (s->spec->path)
		setenv("PATH", s->spec->path, 1);
	if (s->spec->is_held)
		raise(SIGSTOP);
	if (s->spec->ret_began_ns)
		*s->spec->ret_began_ns = bb_now_ns();
	fexecve(s->program_fd, s->argv, environ);
	/* The program is a script. Its interpreter opens the descriptor by name, so the descriptor
	 * must survive exec(). */
	if (errno == ENOENT) {
		fcntl(s->program_fd, F_SETFD, 0);
		fexecve(s->program_fd, s->argv, environ);
	}
	return -errno;
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
	return bb_fail(err, rc, "workload '%s' cannot be started as uid %u: %m", spec->program,
		       (unsigned int)spec->place.uid);
}

/* Waits until the process has stopped. Returns false if it exited; the caller must then reap it. */
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
	char **argv = bb_calloc(spec->n_args + 2, sizeof(*argv));
	struct start start = {spec, open_program(spec), argv};
	const struct bb_child_rules rules = {
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.before = take_place,
		.is_program = true,
		.env = spec->place.env,
		.std = {BB_STD_NULL, BB_STD_NULL},
		.uid = spec->place.uid,
		.gid = spec->place.gid,
	};
	struct bb_child c = {.fd = -1, .report_fd = -1};
	int rc = start.program_fd < 0 ? start.program_fd : 0;

	argv[0] = (char *)(uintptr_t)spec->program;
	for (size_t i = 0; i < spec->n_args; i++)
		argv[i + 1] = spec->args[i];
	if (!rc)
		rc = bb_child__start(&rules, execute, &start, &c);
	if (!rc && !(spec->is_held && wait_until_held(c.pid)))
		rc = bb_child__executed(&c);
	free(argv);
	bb_close(&start.program_fd);
	bb_close(&c.report_fd);
	if (rc) {
		bb_child__stop(&c);
		return say_cannot_start(spec, rc, err);
	}
	ret_workload->pid = c.pid;
	return 0;
}

int bb_workload__ended(struct bb_workload *w, const char *program, struct bb_err *err)
{
	siginfo_t info = {0};
	int status = 0;
	pid_t pid;

	if (!waitid(P_PID, (id_t)w->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == 0)
		return 0;
	/* Kills the processes that the workload started and left behind. This comes before
	 * waitpid(), so that no other process has the workload's number. */
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
	bb_child__stop(&(struct bb_child){.pid = w->pid, .fd = -1, .report_fd = -1});
	w->pid = 0;
}

int bb_workload__open_clock(const struct bb_workload *w, const char *clock, uint32_t freq_hz,
			    int prog_fd, int *ret_event_fd, struct bb_err *err)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = !strcmp(clock, "task-clock") ? PERF_COUNT_SW_TASK_CLOCK
						       : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = freq_hz,
		.inherit = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int rc = bb_perf_event__open(&attr, w->pid, -1, prog_fd, ret_event_fd, err);

	if (rc)
		*ret_event_fd = -1;
	return rc;
}

int bb_workload__start_clock(int event_fd, struct bb_err *err)
{
	int rc = bb_perf_event__enable(event_fd);

	return rc ? bb_fail(err, rc, "cannot enable the sampling event: %m") : 0;
}
