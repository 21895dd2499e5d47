/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_CONSUMER_H
#define BB_DRIVERS_CONSUMER_H

#include "base/err.h"
#include "base/std.h"
#include "drivers/workload.h"
#include "workloads/process_sample.h"

/*
 * The user-space half of a profiler, as a process of its own: it waits for a ring buffer (libbpf's
 * ring_buffer), hands each sample to a processor whose log goes to /dev/null, and notes how old the
 * sample was when that was done.
 */
struct bb_consumer_shared;

struct bb_consumer {
	pid_t pid;                         /* 0: not running */
	struct bb_consumer_shared *shared; /* NULL: nothing to give back */
};

/* Its results, once it is stopped. */
struct bb_consumed {
	uint64_t samples; /* that it was done with */
	/* lag_ns[n], in the order of processing; valid until bb_consumer__close() */
	const uint64_t *lag_ns;
	size_t n;     /* `samples`, or as many as there was room for */
	double cpu_s; /* user and system, from when it was ready */
};

/*
 * Start it, with room for `room` lags, and wait until it is ready. `ring_fd` is the map. 0 or
 * -errno with a message.
 */
int bb_consumer__start(const struct bb_sample_processor *processor, int ring_fd, size_t room,
		       const struct bb_child_place *place, struct bb_consumer *ret_consumer,
		       struct bb_err *err);

/* 0 while it runs; -ECHILD with a message when it ended by itself. */
int bb_consumer__check(struct bb_consumer *c, struct bb_err *err);

/*
 * Stop it at the next sample; in the middle of one (asleep in it, say) where it does not come to
 * that within 20 ms, and then the sample stays in the ring. 0, or -errno with a message that names
 * the failed step.
 */
int bb_consumer__stop(struct bb_consumer *c, struct bb_consumed *ret_consumed, struct bb_err *err);

void bb_consumer__close(struct bb_consumer *c); /* a zeroed one does no harm */

/*
 * The age at `now_ns` of every sample that is still in the ring, oldest first, into
 * ret_age_ns[room]; the ring is empty then. *ret_n is their number, which may be more than `room`.
 * 0 or -errno with a message.
 */
int bb_ring_ages(int ring_fd, uint64_t now_ns, uint64_t *ret_age_ns, size_t room, size_t *ret_n,
		 struct bb_err *err);

#endif
