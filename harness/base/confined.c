/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/confined.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/deadline.h"
#include "base/process.h"
#include "base/stop.h"

#define MOST_S 10
#define POLL_MS 50
#define MEMORY_BYTES (UINT64_C(1) << 30) /* besides the file */

enum stage { STARTED, CONFINED, DONE };

/* Memory that the child writes and we read once it has ended. */
struct shared {
	enum stage stage;
	int rc;
	struct bb_err err;
	_Alignas(max_align_t) char reply[];
};

/* --- the child --- */

/* We tell it to end, the terminal does not; whatever else ends it is to do so. */
static void reset_signals(void)
{
	const struct bb_child_rules rules = {.signals = BB_SIGNALS_DEFAULT};
	sigset_t none;

	bb_child__settle(&rules);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int confine(const struct bb_confined *c, pid_t parent)
{
	const struct rlimit no_core = {0};
	struct stat st = {0};
	int fd = c->fd;

	setrlimit(RLIMIT_CORE, &no_core);
	if (c->is_trial)
		return bb_confine_trial(parent);
	if (fd >= 0 && fstat(fd, &st))
		return -errno;
	bb_confine_memory(MEMORY_BYTES + (uint64_t)st.st_size);
	return bb_confine(&fd, fd >= 0, parent);
}

static __attribute__((noreturn)) void run_child(const struct bb_confined *c, struct shared *s,
						pid_t parent)
{
	reset_signals();
	s->rc = confine(c, parent);
	if (!s->rc) {
		s->stage = CONFINED;
		s->rc = c->work(c->arg, s->reply, &s->err);
		s->stage = DONE;
	}
	_exit(0);
}

/* --- the parent --- */

/* *ret_status as of waitpid(), or -1 when it was not done in time. */
static int wait_for(pid_t pid, int *ret_status)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	uint64_t began_ns = bb_now_ns();
	bool is_late = false;
	int rc = 0;
	pid_t got;

	while (!(got = waitpid(pid, ret_status, WNOHANG))) {
		rc = bb_must_end_why();
		is_late = bb_seconds_since(began_ns) > MOST_S;
		if (rc || is_late) {
			kill(pid, SIGKILL);
			bb_wait_for(pid);
			*ret_status = -1;
			break;
		}
		poll(&p, 1, p.fd < 0 ? 1 : POLL_MS);
	}
	if (p.fd >= 0)
		close(p.fd);
	return bb_stop_signal ? -EINTR : got < 0 ? -ECHILD : rc;
}

static int say_no_child(const struct bb_confined *c, int rc, struct bb_err *err)
{
	return bb_fail(err, rc,
		       "%s: %s may %s it in a child process only, and there can be none: %s; allow "
		       "more processes (pids.max, ulimit -u)",
		       c->path, c->library, c->verb, strerror(-rc));
}

static int say_not_confined(const struct bb_confined *c, int rc, struct bb_err *err)
{
	return bb_fail(err, rc,
		       "%s: %s may %s it in a confined child process only, and it cannot be "
		       "confined: %s; %s",
		       c->path, c->library, c->verb, strerror(-rc),
		       rc == -EFBIG ? "its memory is a file to the kernel: allow larger "
				      "files (ulimit -f)"
				    : "allow prctl, capset, seccomp and memfd_create, which the "
				      "filter of a container or service may refuse");
}

static int say_end(const struct bb_confined *c, int rc, int status, struct bb_err *err)
{
	if (rc == -EINTR)
		return bb_fail(err, rc, "stopped by signal %d (%s) while reading %s",
			       (int)bb_stop_signal, strsignal(bb_stop_signal), c->path);
	if (rc)
		return bb_fail(err, rc, "%s: the budget was over before %s could %s it", c->path,
			       c->library, c->verb);
	return bb_fail(err, -EINVAL, "%s: a damaged %s: the process in which %s is to %s it %s%s",
		       c->path, c->kind, c->library, c->verb,
		       status < 0 ? "was not done after 10 s" : bb_how_ended(status).text,
		       c->remedy);
}

static int take_reply(const struct bb_confined *c, struct shared *s, struct bb_err *err)
{
	s->err.msg[sizeof(s->err.msg) - 1] = '\0';
	if (s->rc)
		return bb_fail(err, s->rc < 0 ? s->rc : -EINVAL, "%s", s->err.msg);
	if (c->ret_reply)
		memcpy(c->ret_reply, s->reply, c->reply_bytes);
	return 0;
}

int bb_confined__run(const struct bb_confined *c, struct bb_err *err)
{
	size_t len = sizeof(struct shared) + c->reply_bytes;
	struct shared *s = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
				0);
	pid_t parent = getpid(), pid;
	int rc = bb_must_end_why(), status = 0;

	if (s == MAP_FAILED)
		return bb_fail_nomem(err);
	if (rc) {
		munmap(s, len);
		return say_end(c, rc, 0, err);
	}
	pid = fork();
	if (pid == 0)
		run_child(c, s, parent);
	rc = pid < 0 ? -errno : wait_for(pid, &status);
	if (pid < 0)
		rc = say_no_child(c, rc, err);
	else if (rc || s->stage == CONFINED)
		rc = say_end(c, rc, status, err);
	else if (s->stage == DONE)
		rc = take_reply(c, s, err);
	else
		rc = say_not_confined(c, s->rc < 0 ? s->rc : -EPERM, err);
	munmap(s, len);
	return rc;
}
