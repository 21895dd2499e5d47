/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/command.h"
#include "workloads/process_sample.h"

/* The user-space part of a profiler, in a child process. It takes stack samples from a ring buffer
 * and passes each to a processor, whose log goes to /dev/null. It stores the lag of each stack
 * sample: the time from taking the sample to the end of its processing. */
struct bb_consumer_shared;

struct bb_consumer {
	pid_t pid; /* the child process; 0 if it does not run */
	/* memory shared with the child process; NULL if there are no results */
	struct bb_consumer_shared *shared;
};

struct bb_consumed {
	uint64_t samples; /* stack samples that were processed */
	/* lag_ns[n]: lags, ns, in the order of processing; valid until bb_consumer__close() */
	const uint64_t *lag_ns;
	/* number of lags: `samples`, but at most `room` of bb_consumer__start() */
	size_t n;
	double cpu_s; /* CPU time used after it was ready, s */
};

/* Starts the consumer on the ring buffer `ring_fd`, with room for `room` lags. Returns when it is
 * ready: 0, or -errno with a message. */
int bb_consumer__start(const struct bb_sample_processor *processor, int ring_fd, size_t room,
		       const struct bb_child_place *place, struct bb_consumer *ret_consumer,
		       struct bb_err *err);

/* Returns 0 while the consumer runs, or -ECHILD with a message if it has ended by itself. */
int bb_consumer__check(struct bb_consumer *c, struct bb_err *err);

/* Stops the consumer after the sample that it is processing. If that takes more than 20 ms, for
 * example because the processor sleeps, kills the consumer. The sample then stays in the ring
 * buffer. Returns 0, or -errno with a message. */
int bb_consumer__stop(struct bb_consumer *c, struct bb_consumed *ret_consumed, struct bb_err *err);

void bb_consumer__close(struct bb_consumer *c); /* `c` may be zeroed */

/* Writes the ages of the samples in a ring buffer at time `now_ns`, the oldest first, and empties
 * it. *ret_n receives the number of samples, which may be larger than `room`, the length of
 * ret_age_ns[]. Returns 0, or -errno with a message. */
int bb_ring_ages(int ring_fd, uint64_t now_ns, uint64_t *ret_age_ns, size_t room, size_t *ret_n,
		 struct bb_err *err);
