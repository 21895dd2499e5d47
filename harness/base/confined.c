/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "base/child.h"
#include "base/deadline.h"
#include "base/io.h"

#define MOST_S 10
#define POLL_MS 50
/* memory that the child may map besides the file bb_confined.fd */
#define MEMORY_BYTES (UINT64_C(1) << 30)

/* Memory that the child shares with us, for its result. */
struct shared {
	bool is_done;
	int rc;
	struct bb_err err;
	_Alignas(max_align_t) char reply[];
};

struct task {
	const struct bb_confined *c;
	struct shared *s;
};

static int run_child(void *arg, int)
{
	const struct task *t = arg;

	t->s->rc = t->c->work(t->c->arg, t->s->reply, &t->s->err);
	t->s->is_done = true;
	return 0;
}

/* Waits until the child has ended. Kills it after MOST_S, or when measuring must end
 * (base/deadline.h). `*ret_status` receives the child's waitpid(2) status, or -1 if we killed it.
 * Returns 0; -EINTR or -ETIME if measuring must end; or -ECHILD. */
static int wait_for(pid_t pid, int *ret_status)
{
	struct pollfd p = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
	uint64_t began_ns = bb_now_ns();
	int rc = 0;
	pid_t got;

	while (!(got = waitpid(pid, ret_status, WNOHANG))) {
		rc = bb_must_end_why();
		if (rc || bb_seconds_since(began_ns) > MOST_S) {
			kill(pid, SIGKILL);
			bb_wait_for(pid);
			*ret_status = -1;
			break;
		}
		poll(&p, 1, p.fd < 0 ? 1 : POLL_MS);
	}
	bb_close(&p.fd);
	return bb_stop_signal ? -EINTR : got < 0 ? -ECHILD : rc;
}

static int say_end(const struct bb_confined *c, int rc, int status, struct bb_err *err)
{
	if (rc == -EINTR)
		return bb_fail_stopped(err, " while reading ", c->path);
	if (rc)
		return bb_fail(err, rc, "%s: the budget was over before %s could %s it", c->path,
			       c->library, c->verb);
	if (WIFEXITED(status) && WEXITSTATUS(status) == BB_EXIT_NO_MEMORY)
		return bb_fail(err, -ENOMEM, "out of memory");
	return bb_fail(err, -EINVAL, "%s: a damaged %s: the process in which %s is to %s it %s%s",
		       c->path, c->kind, c->library, c->verb,
		       status < 0 ? "was not done after 10 s" : bb_how_ended(status).text,
		       c->remedy);
}

int bb_confined__run(const struct bb_confined *c, struct bb_err *err)
{
	size_t len = sizeof(struct shared) + c->reply_bytes;
	struct shared *s = bb_map_pages(len, MAP_SHARED);
	int fd = c->fd, rc = bb_must_end_why(), status = 0;
	struct bb_child_rules rules = {
		.signals = BB_SIGNALS_OF_FAULTS,
		.no_core = true,
		.keep = &fd,
		.n_keep = !c->is_trial,
		.confinement = c->is_trial ? BB_CONFINED_TRIAL : BB_CONFINED,
	};
	struct task task = {c, s};
	struct bb_child child;
	struct stat st = {0};

	if (fd >= 0)
		fstat(fd, &st); /* if it fails, the child's limit leaves no room for the file */
	if (!c->is_trial)
		rules.more_bytes = MEMORY_BYTES + (uint64_t)st.st_size;
	if (rc) {
		rc = say_end(c, rc, 0, err);
	} else if ((rc = bb_child__start(&rules, run_child, &task, &child)) && child.pid < 0) {
		bb_fail(err, rc,
			"%s: %s may %s it in a child process only, and there can be none: %m; "
			"allow more processes (pids.max, ulimit -u)",
			c->path, c->library, c->verb);
	} else if (rc) {
		bb_fail(err, rc,
			"%s: %s may %s it in a confined child process only, and it cannot be "
			"confined: %s; %s",
			c->path, c->library, c->verb, strerror(-rc),
			rc == -EFBIG ? "its memory is a file to the kernel: allow larger files "
				       "(ulimit -f)"
				     : "allow prctl, capset, seccomp and memfd_create, which the "
				       "filter of a container or service may refuse");
	} else if ((rc = wait_for(child.pid, &status)) || !s->is_done) {
		rc = say_end(c, rc, status, err);
	} else if (s->rc) {
		s->err.msg[sizeof(s->err.msg) - 1] = '\0';
		rc = bb_fail(err, s->rc < 0 ? s->rc : -EINVAL, "%s", s->err.msg);
	} else if (c->ret_reply) {
		memcpy(c->ret_reply, s->reply, c->reply_bytes);
	}
	munmap(s, len);
	return rc;
}
