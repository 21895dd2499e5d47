/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "drivers/command.h"
#include "workloads/process_sample.h"

/* The user-space part of a profiler, in a child process. It takes stack samples from a ring buffer
 * (libbpf's ring_buffer) and passes each to a processor whose log goes to /dev/null. It then stores
 * the age of the stack sample, which is its lag. */
struct bb_consumer_shared;

struct bb_consumer {
	pid_t pid; /* the child process; 0: not running */
	/* memory that both processes share; NULL: there are no results */
	struct bb_consumer_shared *shared;
};

/* The results of a consumer that was stopped. */
struct bb_consumed {
	uint64_t samples; /* number of stack samples that the consumer has processed */
	/* lag_ns[n]: lags, ns, in the order of processing; valid until bb_consumer__close() */
	const uint64_t *lag_ns;
	/* number of lags: `samples`, or `room` of bb_consumer__start() if that is smaller */
	size_t n;
	double cpu_s; /* user and system time that the consumer used after it was ready, s */
};

/* Starts the consumer on the ring buffer map `ring_fd`, with room for `room` lags, and returns when
 * it is ready: 0, or -errno with a message. */
int bb_consumer__start(const struct bb_sample_processor *processor, int ring_fd, size_t room,
		       const struct bb_child_place *place, struct bb_consumer *ret_consumer,
		       struct bb_err *err);

/* Returns 0 while the consumer runs, or -ECHILD with a message if it has ended by itself. */
int bb_consumer__check(struct bb_consumer *c, struct bb_err *err);

/* Stops the consumer after the sample that it is processing. If that takes more than 20 ms, for
 * example because the processor sleeps, kills the consumer, and the sample stays in the ring.
 * Returns 0, or -errno with a message that names the failed step. */
int bb_consumer__stop(struct bb_consumer *c, struct bb_consumed *ret_consumed, struct bb_err *err);

void bb_consumer__close(struct bb_consumer *c); /* accepts a zeroed struct */

/* Writes the ages of the samples in a ring, the oldest first, and empties the ring.
 * ret_age_ns[room] receives the ages at `now_ns`, ns. *ret_n receives the number of samples, which
 * may be larger than `room`. Returns 0, or -errno with a message. */
int bb_ring_ages(int ring_fd, uint64_t now_ns, uint64_t *ret_age_ns, size_t room, size_t *ret_n,
		 struct bb_err *err);
