/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Triggers of functions: on a function of ours, of a library, of a command, of a process. */
#include <errno.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/process.h"
#include "fire/call_child.h"
#include "fire/user_function.h"
#include "fire/trigger.h"

static int fire_own_function(struct bb_firing *f)
{
	const long *a = f->point->args;

	bb_own_function((uint64_t)a[0], (uint64_t)a[1], (uint64_t)a[2], (uint64_t)a[3],
			(uint64_t)a[4], (uint64_t)a[5], (uint64_t)a[6]);
	return 0;
}

static int fire_call(struct bb_firing *f)
{
	return f->call_fd < 0 ? -EINVAL : bb_call_child__call(f->call_fd);
}

/* A command that fails has run all the same. */
static int fire_run(struct bb_firing *f)
{
	const struct bb_fire_user *u = f->user;
	const struct bb_process p = {.argv = (const char *const *)f->point->by->run,
				     .dir = u->dir[0] ? u->dir : NULL,
				     .together = true,
				     .uid = u->uid,
				     .gid = u->gid,
				     .env = u->env};
	struct bb_process_end end;
	struct bb_err err = {0};
	int rc = bb_process__run(&p, &end, &err);

	if (!rc)
		bb_process_end__done(&end);
	return rc;
}

#define MOMENT_NS 20000

static int open_wait(struct bb_firing *f)
{
	(void)f;
	return prctl(PR_SET_TIMERSLACK, 1UL) ? -errno : 0;
}

static int fire_wait(struct bb_firing *f)
{
	const struct timespec moment = {.tv_nsec = MOMENT_NS};

	(void)f;
	nanosleep(&moment, NULL);
	return 0;
}

const struct bb_trigger bb_triggers_function[] = {
	{.name = "own-call",
	 .doc = "call a function of bpfbench in the place of the one that the program is for",
	 .words = "",
	 .at = BB_AT_OWN_FUNCTION,
	 .fire = fire_own_function},
	{.name = "call",
	 .doc = "call a function of a shared library, as a scenario says",
	 .words = "",
	 .on_demand = true,
	 .fire = fire_call},
	{.name = "run",
	 .doc = "run a command as the calling user, as a scenario says",
	 .words = "",
	 .on_demand = true,
	 .fire = fire_run},
	{.name = "wait",
	 .doc = "wait until the process that a scenario names does it",
	 .words = "",
	 .on_demand = true,
	 .open = open_wait,
	 .fire = fire_wait},
	{0},
};
