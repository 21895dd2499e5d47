/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process.h"

#include <sys/mount.h>

#include "base/child.h"
#include "base/io.h"
#include "base/deadline.h"
#include "base/processes.h"

/* Pauses of the keeper (explained below) between looks at its children. They double each time. */
#define NAP_FIRST_NS 1000000
#define NAP_MOST_NS 50000000
#define GRACE_S 2.0 /* time from SIGTERM to SIGKILL */
/* Pauses of bpfbench between looks at the keeper. They double each time. */
#define WAIT_FIRST_MS 1
#define WAIT_MOST_MS 50
#define NOT_STARTED 127
#define CHUNK_BYTES (64u << 10)
#define CHUNKS_A_TURN 16
/* limit of the text of one pipe; a longer text loses its beginning */
#define MOST_BYTES (16u << 20)

struct stream {
	int read_fd, write_fd; /* -1 if closed */
	char *text;
	size_t len, size;
};

/*
 * The keeper is a process of ours that is the parent of the program. Processes that the program
 * leaves behind, such as daemons, become children of the keeper. When the program has ended, the
 * keeper ends these processes and then itself. Its exit code is that of the program, or 128 +
 * signal.
 *
 * The keeper is the first process of a PID namespace. The kernel kills all processes of that
 * namespace when the keeper ends. A namespace may be refused (no CAP_SYS_ADMIN, a container's
 * seccomp filter, user.max_pid_namespaces). The keeper is then a subreaper that kills its children
 * until none is left. Then processes can outlive the keeper if they fork faster than it kills them,
 * or if somebody kills the keeper.
 */

static void take_nap(long *ns)
{
	const struct timespec nap = {.tv_nsec = *ns};

	nanosleep(&nap, NULL);
	if (*ns < NAP_MOST_NS)
		*ns *= 2;
}

/* Waits until the program `pid` ends, and reaps other children meanwhile. After a stop signal,
 * sends SIGTERM to it and waits GRACE_S longer. Returns its exit code, or 128 + signal. */
static int wait_as_keeper(pid_t pid)
{
	long nap_ns = NAP_FIRST_NS;
	uint64_t told_ns = 0;
	int status = 0;

	for (;;) {
		pid_t got = waitpid(-1, &status, WNOHANG);

		if (got == pid)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		if (got > 0)
			continue;
		if (got < 0 && errno != EINTR)
			return 128 + SIGKILL;
		if (bb_stop_signal && !told_ns) {
			told_ns = bb_now_ns();
			kill(-pid, SIGTERM);
			/* kill(-pid) misses a program that has no session of its own yet */
			kill(pid, SIGTERM);
		}
		if (told_ns && bb_seconds_since(told_ns) >= GRACE_S)
			return 128 + SIGKILL;
		take_nap(&nap_ns);
	}
}

/* For a keeper without a PID namespace. Kills the program's session and the keeper's children.
 * Waits for those that /proc hides, too, which can only end by themselves. */
static void end_children(pid_t session)
{
	const struct bb_ending all = {.steps = {{SIGKILL, GRACE_S}}};
	uint64_t began_ns = bb_now_ns();
	long nap_ns = NAP_FIRST_NS;
	pid_t got;

	kill(-session, SIGKILL);
	for (;;) {
		bb_processes__end(&all, NULL);
		while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (got < 0 || bb_seconds_since(began_ns) >= GRACE_S)
			return;
		take_nap(&nap_ns);
	}
}

struct start {
	const struct bb_process *process;
	int out_fd, log_fd;
	bool is_whole; /* the keeper is in its own PID namespace */
};

/* Enters the folder after the change to the user p->uid, because perhaps only this user may. */
static int execute(void *arg, int)
{
	const struct bb_process *p = arg;

	if (!p->dir || !chdir(p->dir))
		execvp(p->argv[0], (char *const *)(uintptr_t)p->argv);
	return -errno;
}

/* If the program cannot be executed, writes the -errno to the link. */
static int run_keeper(void *arg, int link_fd)
{
	const struct start *s = arg;
	const struct bb_child_rules rules = {
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.is_program = true,
		.env = s->process->env,
		.std = {BB_STD_NULL, s->out_fd, s->log_fd},
		.uid = s->process->uid,
		.gid = s->process->gid,
		.no_new_privs = true,
	};
	struct bb_child program;
	int status, rc;

	bb_stop__install(true);
	/* In a PID namespace the keeper may mount a /proc that shows only the processes of the
	 * namespace. If mounting is not permitted, as in containers, the program sees our /proc. */
	if (!s->is_whole)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	else if (!mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL))
		mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
	rc = bb_child__start(&rules, execute, (void *)(uintptr_t)s->process, &program);
	if (!rc)
		rc = bb_child__executed(&program);
	if (rc && write(link_fd, &rc, sizeof(rc)) < 0)
		return NOT_STARTED;
	closefrom(STDERR_FILENO + 1);
	if (program.pid <= 0)
		return NOT_STARTED;
	status = wait_as_keeper(program.pid);
	if (!s->is_whole)
		end_children(program.pid);
	return status;
}

/* The pipe belongs to the user `uid`, so that the program can open /dev/stderr. */
static int open_stream(struct stream *s, uid_t uid, gid_t gid)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	s->read_fd = fds[0];
	s->write_fd = fds[1];
	if (fcntl(s->read_fd, F_SETFL, O_NONBLOCK))
		return -errno;
	return geteuid() == 0 && fchown(s->write_fd, uid, gid) && errno != EPERM ? -errno : 0;
}

static void close_stream(struct stream *s)
{
	bb_close(&s->read_fd);
	bb_close(&s->write_fd);
	free(s->text);
}

/* Does not wait. Leaves room for a NUL after the text. */
static int read_stream(struct stream *s)
{
	for (int i = 0; s->read_fd >= 0 && i < CHUNKS_A_TURN; i++) {
		size_t half = s->len / 2;

		if (s->len + CHUNK_BYTES >= MOST_BYTES) {
			memmove(s->text, s->text + half, s->len - half);
			s->len -= half;
		}
		bb_reserve(&s->text, s->len + CHUNK_BYTES + 1, &s->size, 1);
		ssize_t n = read(s->read_fd, s->text + s->len, CHUNK_BYTES);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		s->len += (size_t)n;
		if (!n)
			bb_close(&s->read_fd);
	}
	return 0;
}

static char *take_text(struct stream *s)
{
	char *text = s->text ? s->text : bb_strdup("");

	text[s->len] = '\0';
	s->text = NULL;
	return text;
}

static int follow(pid_t keeper, struct stream *out, struct stream *log, int *ret_status)
{
	int nap_ms = WAIT_FIRST_MS, status = 0, rc = 0;
	bool told = false;
	pid_t got;

	while (!(got = waitpid(keeper, &status, WNOHANG))) {
		struct pollfd fds[] = {{.fd = out->read_fd, .events = POLLIN},
				       {.fd = log->read_fd, .events = POLLIN}};

		if ((bb_stop_signal || rc) && !told) {
			/* The keeper then sends SIGTERM, and ends all processes after GRACE_S. */
			kill(keeper, SIGTERM);
			told = true;
		}
		poll(fds, 2, nap_ms);
		if (!rc)
			rc = read_stream(out);
		if (!rc)
			rc = read_stream(log);
		if (nap_ms < WAIT_MOST_MS)
			nap_ms *= 2;
	}
	if (got < 0)
		return -errno;
	if (!rc && told)
		return -EINTR;
	*ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	if (!rc)
		rc = read_stream(out);
	return rc ? rc : read_stream(log);
}

static int run(const struct bb_process *p, struct stream *out, struct stream *log,
	       struct bb_process_end *ret_end)
{
	struct start start = {.process = p,
			      .out_fd = out->write_fd,
			      .log_fd = p->together ? out->write_fd : log->write_fd,
			      .is_whole = true};
	/* With its own session, only our SIGTERM ends the keeper, and not Ctrl-C. */
	struct bb_child_rules rules = {.own_namespaces = true,
				       .link = BB_LINK_FROM_CHILD,
				       .own_session = true};
	struct bb_child keeper;
	int child_rc = 0, rc;

	rc = bb_child__start(&rules, run_keeper, &start, &keeper);
	if (rc && keeper.pid) {
		start.is_whole = rules.own_namespaces = false;
		rc = bb_child__start(&rules, run_keeper, &start, &keeper);
	}
	bb_close(&out->write_fd);
	bb_close(&log->write_fd);
	if (rc)
		return rc;
	ssize_t n = TEMP_FAILURE_RETRY(read(keeper.fd, &child_rc, sizeof(child_rc)));
	rc = follow(keeper.pid, out, log, &ret_end->status);
	ret_end->was_whole = start.is_whole;
	close(keeper.fd);
	return !rc && n > 0 ? child_rc : rc;
}

int bb_process__run(const struct bb_process *p, struct bb_process_end *ret_end, struct bb_err *err)
{
	struct stream out = {.read_fd = -1, .write_fd = -1}, log = out;
	struct bb_process_end end = {0};
	int rc = open_stream(&out, p->uid, p->gid);

	if (!rc)
		rc = open_stream(&log, p->uid, p->gid);
	if (!rc)
		rc = run(p, &out, &log, &end);
	if (rc == -ENOENT && p->dir && access(p->dir, F_OK))
		bb_fail(err, rc, "%s: %s", p->dir, strerror(ENOENT));
	else if (rc == -ENOENT)
		bb_fail(err, rc, "no '%s' in $PATH: install it", p->argv[0]);
	else if (rc == -EINTR && bb_stop_signal)
		bb_fail_stopped(err, "", "");
	else if (rc)
		bb_fail(err, rc, "%s cannot be run: %m", p->argv[0]);
	if (!rc) {
		end.out = take_text(&out);
		end.log = take_text(&log);
		*ret_end = end;
	}
	close_stream(&out);
	close_stream(&log);
	return rc;
}

void bb_process_end__done(struct bb_process_end *end)
{
	free(end->out);
	free(end->log);
	*end = (struct bb_process_end){0};
}
