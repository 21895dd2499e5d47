/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "drivers/child.h"

#include <sched.h>
#include <sys/resource.h>

#include "base/caller.h"
#include "drivers/driver.h"

/*
 * Ahead of what else runs on its CPU, or a busy machine leaves too few samples. A nice value counts
 * within a session only where there is sched_autogroup; the child has a session of its own, and
 * that one is nice too (sched(7)).
 */
static void run_ahead_of_others(void)
{
	int fd;

	setpriority(PRIO_PROCESS, 0, -20);
	fd = bb_root__open("/proc/self/autogroup", O_WRONLY);
	if (fd >= 0 && write(fd, "-20", 3) < 0)
		errno = 0; /* no autogroups: the nice value does */
	if (fd >= 0)
		close(fd);
}

int bb_child_place__take(const struct bb_child_place *place)
{
	run_ahead_of_others();
	return bb_pin_to_cpu(place->cpu, NULL);
}

struct worker {
	const struct bb_child_place *place;
	const struct bb_worker_task *task;
	int socket_fd;
};

static int prepare_worker(void *arg)
{
	/* Before the others: it does little and sleeps long. Where that is not permitted, the nice
	 * value has to do. */
	const struct sched_param first = {.sched_priority = 1};
	struct worker *w = arg;
	int rc = setns(w->task->netns_fd, CLONE_NEWNET) ? -errno : 0;

	if (!rc)
		rc = w->task->open(w->task->arg, &w->socket_fd);
	sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first);
	return rc ? rc : bb_child_place__take(w->place);
}

static int run_worker(void *arg, int control_fd)
{
	const struct worker *w = arg;

	w->task->work(w->task->arg, w->socket_fd, control_fd);
	return 0;
}

int bb_worker__start(const struct bb_child_place *place, const struct bb_worker_task *work,
		     struct bb_child *ret_worker, struct bb_err *err)
{
	struct worker w = {place, work, -1};
	/* It keeps no other descriptor: a program or link that it held would outlive us. */
	const struct bb_child_rules rules = {
		.link = BB_LINK_SOCKET,
		.signals = BB_SIGNALS_DEFAULT,
		.own_session = true,
		.before = prepare_worker,
		.std = {BB_STD_NULL, BB_STD_NULL},
		.closes_others = true,
		.keep = &w.socket_fd,
		.n_keep = 1,
		.uid = place->uid,
		.gid = place->gid,
	};
	struct bb_child c;
	int rc = bb_child__start(&rules, run_worker, &w, &c);

	if (rc)
		return bb_fail(err, rc, "%s cannot be started: %s", work->name, strerror(-rc));
	*ret_worker = c;
	return 0;
}
