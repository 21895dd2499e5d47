/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/give_way.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define SLICE_NS 100000000u
#define MOST_NS 200000000u

static volatile uint64_t
	since_ns; /* CLOCK_MONOTONIC when the measuring thread last gave way; 0: never */

void bb_give_way_touch(void)
{
	/* An invalid time returns at once. A sleep of 1 ns would take 50 us each time, because
	 * of the timer's slack. */
	nanosleep(&(struct timespec){.tv_nsec = -1}, NULL);
	since_ns = since_ns;
}

void bb_give_way(void)
{
	uint64_t now_ns = bb_now_ns(), rest_ns = (now_ns - since_ns) / 10;

	if (since_ns && now_ns - since_ns < SLICE_NS)
		return;
	if (rest_ns > MOST_NS)
		rest_ns = MOST_NS;
	if (since_ns)
		nanosleep(&(struct timespec){.tv_nsec = (long)rest_ns}, NULL);
	since_ns = bb_now_ns();
}

int bb_run_ahead_of_others(void)
{
	struct sched_param param = {.sched_priority = 1};
	int rc = 0;

	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param)) {
		rc = -errno;
		setpriority(PRIO_PROCESS, 0, -20);
	}
	/*
	 * The kernel may reclaim code that is seldom used (DAMON does). Its next use would cause a
	 * page fault, which some drives count as an event. Without permission to lock memory we
	 * measure without the lock.
	 */
	mlockall(MCL_CURRENT);
	return rc;
}
