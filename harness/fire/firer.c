/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "fire/firer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/caller.h"
#include "base/clock.h"
#include "base/deadline.h"
#include "base/child.h"
#include "fire/later.h"
#include "fire/user_function.h"

#define STUCK_S 5.0 /* no trigger takes that long, and no program */
#define LOOK_MS 1000
#define HEAD_BYTES 256u /* struct bb_fire_task, and the rest of its cache lines */

/* --- in the child --- */

int bb_firing__open(struct bb_firing *f, const struct bb_trigger *t,
		    const struct bb_attach_point *point, int prog_fd,
		    const struct bb_fire_task *task)
{
	int rc = 0;

	*f = (struct bb_firing){.trigger = t,
				.page_bytes = (size_t)sysconf(_SC_PAGESIZE),
				.other_cpu = task->place->other_cpu,
				.prog_fd = prog_fd,
				.cgroup_fd = task->place->cgroup_fd,
				.call_fd = task->call_fd,
				.user = &task->place->user,
				.point = point};
	for (size_t i = 0; i < BB_FIRING_FDS; i++)
		f->fd[i] = -1;
	f->page = mmap(NULL, 2 * f->page_bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (f->page == MAP_FAILED)
		return -errno;
	if (t->open)
		rc = t->open(f);
	bb_trigger__resolve_calls(f);
	return rc;
}

void bb_firing__close(struct bb_firing *f)
{
	if (f->trigger->close)
		f->trigger->close(f);
	for (size_t i = 0; i < BB_FIRING_FDS; i++)
		if (f->fd[i] >= 0)
			close(f->fd[i]);
	if (f->page != MAP_FAILED)
		munmap(f->page, 2 * f->page_bytes);
}

struct firing_child {
	const struct bb_fire_place *place;
	const struct bb_firer *firer;
	void *arg;
};

static int enter_place(void *arg)
{
	const struct firing_child *c = arg;

	signal(SIGINT, SIG_IGN); /* the terminal sends it to all of us: the parent ends us */
	signal(SIGALRM, SIG_IGN);
	bb_root__begin();
	return bb_fire_place__enter(c->place);
}

static int serve(void *arg, int fd)
{
	const struct firing_child *c = arg;
	struct bb_fire_task *task = c->firer->task;
	char byte;

	while (recv(fd, &byte, 1, 0) == 1) {
		task->rc = task->work(c->arg, task, c->firer->shared);
		if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
			break;
	}
	return 0;
}

/* --- in the parent --- */

/* Wait for its answer. 0, -EINTR, -ETIME, -ESRCH: it is gone, -ETIMEDOUT: it is stuck. */
static int wait_for(const struct bb_firer *f)
{
	uint64_t began_ns = bb_now_ns(), beats = 0;
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	char byte;

	while (poll(&p, 1, LOOK_MS) <= 0) {
		int rc = bb_must_end_why();
		if (rc)
			return rc;
		if (f->task->beats != beats) {
			beats = f->task->beats;
			began_ns = bb_now_ns();
		}
		if (bb_seconds_since(began_ns) > STUCK_S)
			return -ETIMEDOUT;
	}
	return recv(f->fd, &byte, 1, 0) == 1 ? 0 : -ESRCH;
}

void bb_firer__stop(struct bb_firer *f)
{
	if (!f)
		return;
	if (f->pid > 0) {
		kill(f->pid, SIGKILL);
		bb_wait_for(f->pid);
		close(f->fd);
	}
	bb_call_child__stop(&f->call);
	if (f->task)
		munmap(f->task, f->bytes);
	*f = (struct bb_firer){.fd = -1, .call.fd = -1};
}

/* How it ended, in words; it is waited for. */
static int say_gone(struct bb_firer *f, struct bb_err *err)
{
	const struct bb_trigger *t = f->task->in_work;
	int status = bb_wait_for(f->pid);

	f->pid = 0;
	close(f->fd);
	return bb_fail(err, -ESRCH, "%s%s: the process that fires %s; by the program?",
		       t ? "trigger " : "", t ? t->name : "its trigger", bb_how_ended(status).text);
}

static int say_stuck(struct bb_firer *f, struct bb_err *err)
{
	const struct bb_trigger *t = f->task->in_work;

	kill(f->pid, SIGKILL);
	bb_wait_for(f->pid);
	f->pid = 0;
	close(f->fd);
	return bb_fail(err, -ESRCH, "trigger %s did not come back within %g s, and was ended",
		       t ? t->name : "", STUCK_S);
}

int bb_firer__do(struct bb_firer *f, int (*work)(void *arg, struct bb_fire_task *t, void *shared),
		 struct bb_err *err)
{
	char byte = 0;
	int rc;

	f->task->work = work;
	if (f->pid <= 0)
		return bb_fail(err, -ESRCH, "the process that fires has ended before");
	if (send(f->fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return say_gone(f, err);
	rc = wait_for(f);
	if (rc == -ESRCH)
		return say_gone(f, err);
	if (rc == -ETIMEDOUT)
		return say_stuck(f, err);
	if (rc) { /* its work so far counts; it is of no more use */
		kill(f->pid, SIGKILL);
		return rc;
	}
	return f->task->rc;
}

pid_t bb_firer__probed(const struct bb_firer *f, const struct bb_attach_point *point)
{
	if (point->pid)
		return (pid_t)point->pid;
	if (f->call.pid > 0)
		return f->call.pid;
	return point->by && point->by->run ? -1 : f->pid;
}

static int start_call(const struct bb_fire_place *place, const struct bb_attach_point *point,
		      struct bb_call_child *ret_child, struct bb_err *err)
{
	struct bb_user_target target;
	int rc;

	if (!point->by || !point->by->call)
		return 0;
	rc = bb_user_target__parse(point->target, point->kind == BB_AT_USDT, &target, err);
	return rc ? rc
		  : bb_call_child__start(&place->user, target.path, point->by, point->self_pid,
					 ret_child, err);
}

static int start(const struct bb_fire_place *place, const struct bb_attach_point *point, void *arg,
		 struct bb_firer *ret_firer, struct bb_err *err)
{
	struct bb_firer f = *ret_firer;
	struct firing_child child = {place, &f, arg};
	int rc = start_call(place, point, &f.call, err);
	/* whoever calls the function is the one that fires */
	const struct bb_child_rules rules = {
		.pid = f.call.pid > 0 ? 0 : point->self_pid,
		.link = BB_LINK_SOCKET,
		.name = BB_FIRER_NAME,
		.before = enter_place,
	};
	struct bb_child c;

	if (rc)
		return rc;
	f.task = mmap(NULL, f.bytes, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (f.task == MAP_FAILED) {
		bb_call_child__stop(&f.call);
		return bb_fail_nomem(err);
	}
	f.task->place = place;
	f.task->call_fd = f.call.fd;
	f.shared = (char *)f.task + HEAD_BYTES;
	if (rules.pid)
		bb_close_later__wait();
	rc = bb_child__start(&rules, serve, &child, &c);
	f.pid = c.pid;
	f.fd = c.fd;
	if (rc)
		bb_firer__stop(&f);
	if (rc && c.pid < 0 && point->self_pid)
		return bb_fail(err, -EAGAIN, "pid %d, which the program was told: %s",
			       (int)point->self_pid, strerror(-rc));
	if (rc)
		return bb_fail(err, rc, "starting the process that fires: %s", strerror(-rc));
	*ret_firer = f;
	return 0;
}

int bb_firer__start(const struct bb_fire_place *place, const struct bb_attach_point *point,
		    void *arg, size_t shared_bytes, struct bb_firer *ret_firer, struct bb_err *err)
{
	struct bb_firer f = {.fd = -1, .call.fd = -1, .bytes = HEAD_BYTES + shared_bytes};
	int rc = start(place, point, arg, &f, err);

	if (!rc)
		*ret_firer = f;
	return rc;
}
