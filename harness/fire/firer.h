/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_FIRE_FIRER_H
#define BB_FIRE_FIRER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "fire/place.h"
#include "fire/trigger.h"

/*
 * The process that fires: a child of ours, pinned to the CPU, that opens triggers, fires them and
 * reads the counters itself, as the event happens to whoever does it. A program may kill it, hold
 * it up or deny it what it does; we find that out and are left alone. It is killed when we end.
 */
#define BB_FIRER_NAME "bpfbench"

struct bb_fire_task {
	/* in the child; returns 0 or -errno. `shared` is the part of the memory that is the user's
	 */
	int (*work)(void *arg, struct bb_fire_task *t, void *shared);
	int rc;
	uint64_t beats; /* work() counts them up: one that does not for 5 s is stuck */
	const struct bb_trigger *in_work; /* opened or fired now, for messages; NULL: none */
	const struct bb_fire_place *place;
	int call_fd; /* of the process that calls a function; -1: none */
};

struct bb_firer {
	pid_t pid;                 /* 0: none */
	int fd;                    /* our end of a socket between us */
	struct bb_call_child call; /* of a point that asks for it */
	struct bb_fire_task *task; /* in memory that both processes see, at one address */
	void *shared;              /* the user's part of it */
	size_t bytes;
};

/*
 * Start it, for programs at `point`; returns when it is in place. `arg` is what the task's work()
 * is given: the child has copies of all that there is when it is started, programs and maps too.
 */
int bb_firer__start(const struct bb_fire_place *place, const struct bb_attach_point *point,
		    void *arg, size_t shared_bytes, struct bb_firer *ret_firer, struct bb_err *err);
void bb_firer__stop(struct bb_firer *f); /* a zeroed one does no harm */

/* The process in which functions of that point are probed; -1: in all. */
pid_t bb_firer__probed(const struct bb_firer *f, const struct bb_attach_point *point);

/*
 * Let it do `work`, and wait. 0 or work()'s -errno; -EINTR, -ETIME: base/deadline.h; -ESRCH with a
 * message: it was killed, or did not come back and was killed by us (then it is stopped).
 */
int bb_firer__do(struct bb_firer *f, int (*work)(void *arg, struct bb_fire_task *t, void *shared),
		 struct bb_err *err);

/* For work(): open a trigger and close it again, with all that it has. 0 or -errno. */
int bb_firing__open(struct bb_firing *f, const struct bb_trigger *t,
		    const struct bb_attach_point *point, int prog_fd,
		    const struct bb_fire_task *task);
void bb_firing__close(struct bb_firing *f);
static inline int bb_firing__fire(struct bb_firing *f)
{
	return f->trigger->fire ? f->trigger->fire(f) : 0;
}

#endif
