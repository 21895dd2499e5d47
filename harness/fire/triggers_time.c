/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of the scheduler and of timers. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "fire/trigger.h"

static int fire_rename(struct bb_firing *f)
{
	(void)f;
	return prctl(PR_SET_NAME, "bpfbench") ? -errno : 0;
}

static int fire_yield(struct bb_firing *f)
{
	(void)f;
	return sched_yield() ? -errno : 0;
}

static int fire_nanosleep(struct bb_firing *f)
{
	const struct timespec least = {.tv_nsec = 1};

	(void)f;
	return syscall(SYS_nanosleep, &least, NULL) ? -errno : 0;
}

static int fire_clock_nanosleep(struct bb_firing *f)
{
	const struct timespec least = {.tv_nsec = 1};

	(void)f;
	return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &least, NULL) ? -errno : 0;
}

static int open_timerfd(struct bb_firing *f)
{
	f->fd[0] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return f->fd[0] < 0 ? -errno : 0;
}

static int fire_timerfd(struct bb_firing *f)
{
	const struct itimerspec soon = {.it_value = {.tv_nsec = 1}};
	uint64_t n;

	if (timerfd_settime(f->fd[0], 0, &soon, NULL) || read(f->fd[0], &n, sizeof(n)) < 0)
		return -errno;
	return 0;
}

/* A partner on our CPU that waits for a wakeup, and wakes us in turn. */
static void *answer(void *arg)
{
	const struct bb_firing *f = arg;
	uint64_t n;

	while (read(f->fd[0], &n, sizeof(n)) == sizeof(n) && n == 1)
		if (write(f->fd[1], &n, sizeof(n)) != sizeof(n))
			break;
	return NULL;
}

static int open_partner(struct bb_firing *f)
{
	pthread_t thread;

	f->fd[0] = eventfd(0, EFD_CLOEXEC);
	f->fd[1] = eventfd(0, EFD_CLOEXEC);
	if (f->fd[0] < 0 || f->fd[1] < 0)
		return -errno;
	if (pthread_create(&thread, NULL, answer, f))
		return -EAGAIN;
	f->args[0] = (long)thread;
	return 0;
}

static int fire_partner(struct bb_firing *f)
{
	uint64_t n = 1;

	return write(f->fd[0], &n, sizeof(n)) == sizeof(n) &&
			       read(f->fd[1], &n, sizeof(n)) == sizeof(n)
		       ? 0
		       : -errno;
}

static void close_partner(struct bb_firing *f)
{
	uint64_t end = 2;

	if (f->args[0] && write(f->fd[0], &end, sizeof(end)) == sizeof(end))
		pthread_join((pthread_t)f->args[0], NULL);
}

static int fire_migrate(struct bb_firing *f)
{
	cpu_set_t here, there;

	if (f->other_cpu < 0)
		return -ENODEV;
	if (sched_getaffinity(0, sizeof(here), &here))
		return -errno;
	CPU_ZERO(&there);
	CPU_SET((size_t)f->other_cpu, &there);
	return sched_setaffinity(0, sizeof(there), &there) ||
			       sched_setaffinity(0, sizeof(here), &here)
		       ? -errno
		       : 0;
}

const struct bb_trigger bb_triggers_time[] = {
	{.name = "counters",
	 .doc = "nothing but the system call that reads the program's counters",
	 .words = "bpf sys_enter sys_exit"},
	{.name = "task-rename",
	 .doc = "a thread gives itself a name (prctl)",
	 .words = "task_rename prctl set_task_comm",
	 .fire = fire_rename},
	{.name = "sched-yield",
	 .doc = "sched_yield",
	 .words = "sched_yield yield",
	 .fire = fire_yield},
	{.name = "nanosleep",
	 .doc = "sleep for a nanosecond: off the CPU, a timer, a wakeup, on again",
	 .words = "nanosleep sched_switch sched_wakeup sched_waking hrtimer_start hrtimer_init "
		  "hrtimer_expire_entry hrtimer_expire_exit hrtimer_cancel hrtimer sched_stat "
		  "finish_task_switch try_to_wake_up schedule local_timer",
	 .fire = fire_nanosleep},
	{.name = "clock-nanosleep",
	 .doc = "the same by clock_nanosleep",
	 .words = "clock_nanosleep",
	 .fire = fire_clock_nanosleep},
	{.name = "timerfd",
	 .doc = "set a timerfd to a nanosecond and wait for it",
	 .words = "timerfd_settime timerfd hrtimer_start",
	 .open = open_timerfd,
	 .fire = fire_timerfd},
	{.name = "wakeup",
	 .doc = "wake a thread on the same CPU and wait until it wakes us",
	 .words = "eventfd sched_switch sched_wakeup sched_waking sched futex",
	 .open = open_partner,
	 .fire = fire_partner,
	 .close = close_partner},
	{.name = "migrate",
	 .doc = "to another CPU and back",
	 .words = "sched_migrate_task sched_setaffinity migrate set_cpus_allowed",
	 .fire = fire_migrate},
	{0},
};
