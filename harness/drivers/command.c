/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/command.h"

#include <linux/perf_event.h>

#include "base/caller.h"
#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"
#include "bpf/attach.h"
#include "drivers/driver.h"

#define OUT_BYTES (64 << 10)
#define LOG_BYTES (1 << 20) /* a larger log is emptied */
#define PAUSE_S 0.002       /* time between two calls of bb_beside.feed(), s */
#define LOOK_S 0.1          /* time between two checks of a command without beside functions, s */

int bb_child_place__take(const struct bb_child_place *place)
{
	setpriority(PRIO_PROCESS, 0, -20);
	/* With sched_autogroup, a nice value ranks a process only within its session. So the
	 * session gets one, too. */
	int fd = bb_root__open("/proc/self/autogroup", O_WRONLY);
	if (fd >= 0 && write(fd, "-20", 3) < 0)
		errno = 0; /* not an error: then only setpriority() takes effect */
	bb_close(&fd);
	return bb_pin_to_cpu(place->cpu, NULL);
}

static int open_in(const char *dir, size_t dir_len, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%.*s/%s", (int)dir_len, dir, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return bb_open(path, O_RDONLY);
}

/* Returns a descriptor, -ENOENT if no folder has the program, or why it cannot be opened. */
static int open_program(const struct bb_command_spec *spec)
{
	const char *path = spec->path ? spec->path : getenv("PATH");
	int fd = -ENOENT, why = -ENOENT;

	if (strchr(spec->program, '/'))
		return bb_open(spec->program, O_RDONLY);
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
	const struct bb_command_spec *spec;
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
	if (s->program_fd < 0)
		execvp(s->spec->shell ? "/bin/sh" : s->spec->program, s->argv);
	else
		fexecve(s->program_fd, s->argv, environ);
	/* ENOENT means that the program is a script. Its interpreter opens the descriptor by name,
	 * so the descriptor must survive exec(). */
	if (errno == ENOENT && s->program_fd >= 0) {
		fcntl(s->program_fd, F_SETFD, 0);
		fexecve(s->program_fd, s->argv, environ);
	}
	return -errno;
}

static const char *name_of(const struct bb_command_spec *spec)
{
	return spec->shell ? spec->shell : spec->program;
}

static int say_cannot_start(const struct bb_command_spec *spec, int rc, struct bb_err *err)
{
	const char *noun = spec->noun ? spec->noun : "command", *name = name_of(spec);

	if (rc == -ENOENT && spec->path)
		return bb_fail(err, rc, "'%s' not found in %s: install it", name, spec->path);
	if (rc == -ENOENT)
		return bb_fail(err, rc, "%s '%s' not found%s%s; build it, or give its path", noun,
			       name, spec->dir ? ": neither in $PATH nor in " : "",
			       spec->dir ? spec->dir : "");
	return bb_fail(err, rc, "%s '%s' cannot be started as uid %u: %m", noun, name,
		       (unsigned int)spec->place.uid);
}

/* Waits until the process has stopped. Returns false if the process exited instead. */
static bool wait_until_held(pid_t pid)
{
	siginfo_t info = {0};
	int rc;

	do
		rc = waitid(P_PID, (id_t)pid, &info, WSTOPPED | WEXITED | WNOWAIT);
	while (rc && errno == EINTR);
	return !rc && info.si_code == CLD_STOPPED;
}

int bb_command__open_log(const struct bb_child_place *place)
{
	int fd = memfd_create("output", MFD_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_SETFL, O_APPEND) || (place->uid && fchown(fd, place->uid, place->gid)))
		errno = 0; /* not fatal: it only means that the command cannot open /dev/stderr */
	return fd;
}

int bb_command__start(const struct bb_command_spec *spec, struct bb_command *ret_command,
		      struct bb_err *err)
{
	bool is_opened = spec->dir || spec->path || spec->is_held;
	const char **argv = bb_calloc(spec->n_args + 4, sizeof(*argv));
	struct start start = {spec, is_opened ? open_program(spec) : -1, (char **)(uintptr_t)argv};
	struct bb_command c = {.spec = spec, .log_fd = bb_command__open_log(&spec->place)};
	struct bb_child child = {.fd = -1, .report_fd = -1};
	int rc = is_opened && start.program_fd < 0 ? start.program_fd : c.log_fd < 0 ? c.log_fd : 0;

	if (!rc && spec->keeps_stdout && (c.out_fd = bb_command__open_log(&spec->place)) < 0)
		rc = c.out_fd;
	argv[0] = spec->shell ? "sh" : spec->program;
	argv[1] = spec->shell ? "-c" : NULL;
	argv[2] = spec->shell;
	for (size_t i = 0; i < spec->n_args; i++)
		argv[i + 1] = spec->args[i];
	if (!rc) {
		const struct bb_child_rules rules = {
			.signals = BB_SIGNALS_DEFAULT,
			.own_session = true,
			.before = spec->is_pinned ? take_place : NULL,
			.is_program = true,
			.env = spec->place.env,
			.std = {BB_STD_NULL, spec->keeps_stdout ? c.out_fd : BB_STD_NULL, c.log_fd},
			.uid = spec->place.uid,
			.gid = spec->place.gid,
		};

		rc = bb_child__start(&rules, execute, &start, &child);
	}
	if (!rc && !(spec->is_held && wait_until_held(child.pid)))
		rc = bb_child__executed(&child);
	bb_close(&child.report_fd);
	c.pid = child.pid > 0 ? child.pid : 0;
	free(argv);
	bb_close(&start.program_fd);
	if (rc)
		bb_command__done(&c);
	*ret_command = c;
	return rc ? say_cannot_start(spec, rc, err) : 0;
}

int bb_command__wait(struct bb_command *c, double seconds, struct rusage *ret_usage)
{
	int rc = c->pid ? bb_child__wait(c->pid, seconds) : 0;

	if (rc || !c->pid)
		return rc;
	/* the process is not reaped yet, so no other process has this pid */
	kill(-c->pid, SIGKILL);
	if (TEMP_FAILURE_RETRY(wait4(c->pid, &c->status, 0, ret_usage)) < 0)
		return -errno;
	c->pid = 0;
	return 0;
}

int bb_command__fail(const struct bb_command *c, struct bb_err *err)
{
	return bb_fail(err, -ECHILD, "the %s '%s' %s %s%s", c->spec->noun, name_of(c->spec),
		       bb_how_ended(c->status).text, c->spec->when,
		       bb_command__tail(c->log_fd).text);
}

int bb_command__ended(struct bb_command *c, struct bb_err *err)
{
	siginfo_t info = {0};
	struct rusage unused;

	if (!waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid == 0)
		return 0;
	int rc = bb_command__wait(c, 0, &unused);
	if (rc)
		rc = rc == -EINTR ? bb_fail_stopped(err, "", "")
				  : bb_fail(err, rc, "waiting for '%s': %m", name_of(c->spec));
	else
		rc = c->status ? bb_command__fail(c, err) : 1;
	bb_command__done(c);
	return rc;
}

int bb_command__run(const struct bb_command_spec *spec, const struct bb_beside *beside,
		    double most_s, struct bb_command *ret_command, struct bb_run_cost *cost,
		    struct bb_err *err)
{
	uint64_t began_ns = bb_now_ns();
	struct rusage usage = {0};
	int rc = bb_command__start(spec, ret_command, err);

	if (!rc && beside && beside->begin)
		rc = beside->begin(beside->arg, ret_command, err);
	if (rc)
		return rc;
	bb_command__resume(ret_command);
	while ((rc = bb_command__wait(ret_command, beside ? PAUSE_S : LOOK_S, &usage)) == -ETIME) {
		bb_command__limit_log(ret_command->log_fd);
		rc = bb_seconds_since(began_ns) > most_s ? -ETIME : bb_must_end_why();
		if (rc)
			break;
		if (beside && (rc = beside->feed(beside->arg, err)))
			return rc;
	}
	if (rc == -EINTR)
		return bb_fail_stopped(err, "", "");
	if (rc == -ETIME)
		return bb_fail(err, rc,
			       "one run of the %s '%s' takes longer than the budget (%g s)",
			       spec->noun, name_of(spec), most_s);
	if (rc)
		return bb_fail(err, rc, "waiting for '%s': %m", name_of(spec));
	if (spec->ret_began_ns)
		began_ns = *spec->ret_began_ns;
	cost->wall_ns += bb_now_ns() - began_ns;
	cost->cpu_s += bb_rusage_cpu_s(&usage);
	return ret_command->status ? bb_command__fail(ret_command, err) : 0;
}

void bb_command__pause(const struct bb_command *w)
{
	if (w->pid > 0)
		kill(-w->pid, SIGSTOP);
	bb_command__limit_log(w->log_fd);
}

void bb_command__resume(const struct bb_command *w)
{
	if (w->pid > 0)
		kill(-w->pid, SIGCONT);
}

void bb_command__done(struct bb_command *c)
{
	bb_child__stop(&(struct bb_child){.pid = c->pid, .fd = -1, .report_fd = -1});
	if (c->log_fd > 0)
		close(c->log_fd);
	if (c->out_fd > 0)
		close(c->out_fd);
	*c = (struct bb_command){.spec = c->spec, .status = c->status};
}

static size_t read_end(int fd, char *ret_text, size_t most)
{
	struct stat st;
	ssize_t n = 0;

	if (fd > 0 && !fstat(fd, &st))
		n = pread(fd, ret_text, most,
			  st.st_size > (off_t)most ? st.st_size - (off_t)most : 0);
	return n > 0 ? (size_t)n : 0;
}

char *bb_command__stdout(const struct bb_command *c)
{
	char *text = bb_calloc(OUT_BYTES + 1, 1);

	read_end(c->out_fd, text, OUT_BYTES);
	return text;
}

struct bb_command_tail bb_command__tail(int log_fd)
{
	static const char before[] = "; its stderr ends: ";
	struct bb_command_tail tail = {""};
	char *text = tail.text + sizeof(before) - 1;
	size_t n = read_end(log_fd, text, sizeof(tail.text) - sizeof(before));

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	if (n)
		memcpy(tail.text, before, sizeof(before) - 1);
	text[n] = '\0';
	for (char *at = text; *at; at++)
		if (*at == '\n')
			*at = ' ';
	return tail;
}

void bb_command__limit_log(int log_fd)
{
	struct stat st;

	if (log_fd > 0 && !fstat(log_fd, &st) && st.st_size > LOG_BYTES && ftruncate(log_fd, 0))
		errno = 0;
}

int bb_command__open_clock(const struct bb_command *w, const char *clock, uint32_t freq_hz,
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

	return bb_perf_event__open(&attr, w->pid, -1, prog_fd, ret_event_fd, err);
}

int bb_command__start_clock(int event_fd, struct bb_err *err)
{
	int rc = bb_perf_event__enable(event_fd);

	return rc ? bb_fail(err, rc, "cannot enable the sampling event: %m") : 0;
}
