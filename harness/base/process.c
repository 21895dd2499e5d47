/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/environment.h"
#include "base/open_files.h"
#include "base/process_tree.h"
#include "base/stop.h"

#define WAIT_FIRST_MS 1 /* doubled each time, up to: */
#define WAIT_MOST_MS 50
#define NOT_STARTED 127 /* a shell's exit code for "not found" */
#define CHUNK_BYTES (64u << 10)
#define CHUNKS_A_TURN 16       /* before the stop signal is looked at */
#define MOST_BYTES (16u << 20) /* of a stream; of more, the end is kept */

/* A pipe that the program writes to, and all that has come out of it. */
struct stream {
	int read_fd, write_fd; /* -1: closed */
	char *text;
	size_t len, size;
};

/* --- the program --- */

struct start {
	const struct bb_process *process;
	int out_fd, log_fd, report_fd;
};

static int settle(const struct start *s, pid_t keeper)
{
	const struct bb_process *p = s->process;
	const struct bb_child_rules rules = {.signals = BB_SIGNALS_DEFAULT,
					     .uid = p->uid,
					     .gid = p->gid,
					     .no_new_privs = true,
					     .parent = keeper};
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC), rc;

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(s->out_fd, 1) < 0 || dup2(s->log_fd, 2) < 0)
		return -errno;
	rc = bb_environment__clean(p->env, p->uid);
	if (!rc)
		rc = bb_child__settle(&rules);
	return !rc && p->dir && chdir(p->dir) ? -errno : rc;
}

/* Never returns. What fails is written to report_fd as an errno. */
static void run_program(void *arg, pid_t keeper)
{
	const struct start *s = arg;
	int rc = settle(s, keeper);

	if (!rc) {
		bb_open_files__as_given();
		execvp(s->process->argv[0], (char *const *)(uintptr_t)s->process->argv);
		rc = -errno;
	}
	if (write(s->report_fd, &rc, sizeof(rc)) < 0)
		_exit(NOT_STARTED);
	_exit(NOT_STARTED);
}

/* --- its output --- */

/* The user must be able to open it anew, as /dev/stderr. */
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

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_stream(struct stream *s)
{
	close_fd(&s->read_fd);
	close_fd(&s->write_fd);
	free(s->text);
	s->text = NULL;
}

/* Room for a chunk and a NUL. */
static int make_room(struct stream *s)
{
	size_t half = s->len / 2;
	char *text;

	if (s->len + CHUNK_BYTES < s->size)
		return 0;
	if (s->size >= MOST_BYTES) {
		memmove(s->text, s->text + half, s->len - half);
		s->len -= half;
		return 0;
	}
	text = realloc(s->text, s->size ? 2 * s->size : 2 * CHUNK_BYTES);
	if (!text)
		return -ENOMEM;
	s->text = text;
	s->size = s->size ? 2 * s->size : 2 * CHUNK_BYTES;
	return 0;
}

/* What is there now, or some of it. */
static int read_stream(struct stream *s)
{
	for (int i = 0; s->read_fd >= 0 && i < CHUNKS_A_TURN; i++) {
		int rc = make_room(s);
		ssize_t n;

		if (rc)
			return rc;
		n = read(s->read_fd, s->text + s->len, CHUNK_BYTES);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -errno;
		s->len += (size_t)n;
		if (!n)
			close_fd(&s->read_fd);
	}
	return 0;
}

/* Its text, never NULL but without memory; free() it. */
static char *take_text(struct stream *s)
{
	char *text = s->text ? s->text : strdup("");

	if (text)
		text[s->len] = '\0';
	s->text = NULL;
	return text;
}

/* --- both --- */

/* Until all of the tree is gone; what it writes is read meanwhile. */
static int follow(const struct bb_process_tree *tree, struct stream *out, struct stream *log,
		  int *ret_status)
{
	int nap_ms = WAIT_FIRST_MS, status = 0, rc = 0;
	bool told = false;
	pid_t got;

	while (!(got = waitpid(tree->keeper, &status, WNOHANG))) {
		struct pollfd fds[] = {{.fd = out->read_fd, .events = POLLIN},
				       {.fd = log->read_fd, .events = POLLIN}};

		if ((bb_stop_signal || rc) && !told) {
			bb_process_tree__end(tree);
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
			      .log_fd = p->together ? out->write_fd : log->write_fd};
	struct bb_process_tree tree;
	int report[2], rc, child_rc = 0;
	ssize_t n = 0;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	start.report_fd = report[1];
	rc = bb_process_tree__start(run_program, &start, report, &tree);
	close(report[1]);
	close_fd(&out->write_fd);
	close_fd(&log->write_fd);
	if (!rc) {
		do
			n = read(report[0], &child_rc, sizeof(child_rc));
		while (n < 0 && errno == EINTR);
		rc = follow(&tree, out, log, &ret_end->status);
		ret_end->was_whole = tree.is_whole;
	}
	close(report[0]);
	return !rc && n > 0 ? child_rc : rc;
}

int bb_wait_for(pid_t child)
{
	int status;
	pid_t got;

	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == child ? status : -1;
}

struct bb_how_ended bb_how_ended(int status)
{
	struct bb_how_ended how;

	if (WIFSIGNALED(status))
		snprintf(how.text, sizeof(how.text), "was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(how.text, sizeof(how.text), "ended with exit code %d",
			 WEXITSTATUS(status));
	return how;
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
		bb_fail(err, rc, "stopped by signal %d (%s)", (int)bb_stop_signal,
			strsignal(bb_stop_signal));
	else if (rc)
		bb_fail(err, rc, "%s cannot be run: %s", p->argv[0], strerror(-rc));
	if (!rc) {
		end.out = take_text(&out);
		end.log = take_text(&log);
		if (!end.out || !end.log)
			rc = bb_fail_nomem(err);
	}
	close_stream(&out);
	close_stream(&log);
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
