/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_DRIVERS_TRAFFIC_H
#define BB_DRIVERS_TRAFFIC_H

#include "bpf/netns.h"
#include "drivers/child.h"
#include "drivers/driver.h"

/*
 * The common part of the drives of real packets: all of struct bb_driver but open(). A child of
 * ours sends at a steady rate through a pair of veth devices (bpf/netns.h), whose far end has
 * the program on; both ends of a packet's route are then on the CPU that the child is pinned to.
 * The counters are polled from another.
 */
struct bb_traffic {
	const struct bb_drive_spec *spec;
	struct bb_driver_opts opts;
	struct bb_veth_pair pair;
	struct bb_child sender, server; /* the server: zeroed where there is none */
	size_t least_packets;           /* of a beat */
	int (*start)(struct bb_traffic *t, struct bb_err *err); /* makes somebody send */
};

/* The sender's action at each beat, in the near end's namespace: 0, or -errno, which ends the
 * batch. */
struct bb_traffic_sender {
	const char *name;                    /* "the sender of packets" */
	int (*open)(void *arg, int *ret_fd); /* as root: the socket that it sends by */
	int (*send)(void *arg, int socket_fd);
	void *arg; /* the child has a copy of it */
};

/*
 * A pair, and `start`, which has bb_traffic__start() make somebody send. -ENOTSUP with the reason:
 * no second CPU to poll from, no namespaces, no veth.
 */
int bb_traffic__open(const struct bb_drive_spec *spec, const struct bb_driver_opts *opts,
		     size_t least_packets, int (*start)(struct bb_traffic *t, struct bb_err *err),
		     void **ret_state, struct bb_err *err);
int bb_traffic__start(struct bb_traffic *t, const struct bb_traffic_sender *sender,
		      struct bb_err *err);
void bb_traffic__close(void *traffic);

/* One beat, to see that it works: if the kernel or the program makes it impossible, that is
 * reported before anything is measured. */
int bb_traffic__probe(void *traffic, struct bb_test_prog *prog, struct bb_err *err);
int bb_traffic__attach(void *traffic, struct bb_test_prog *prog, void **ret_slot,
		       struct bb_err *err);
int bb_traffic__batch(void *traffic, void *slot, uint32_t rate_hz, struct bb_batch *b,
		      struct bb_err *err);
void bb_traffic__detach(void *traffic, void *slot);

/*
 * When the next of evenly spaced events is due, ns, after one that was due at `due_ns` and done at
 * `now_ns`. A sender that is late by less than a period keeps the beat; one that is later skips the
 * beats between and goes on from now: a rate that cannot be held shows as a lower rate and never as
 * a burst.
 */
static inline uint64_t bb_pace_next(uint64_t due_ns, uint64_t now_ns, uint64_t period_ns)
{
	uint64_t next_ns = due_ns + period_ns;

	return now_ns > next_ns + period_ns ? now_ns : next_ns;
}

/* What the kinds of drives of real packets share, and their functions. */
#define BB_TRAFFIC_KIND                                                                            \
	.with = "in-situ", .by_key = "event", .param = "rate_hz", .seconds = 0.6,                  \
	.pace = BB_TIMED_PACE, .samples_per_event = 32, .sample = BB_SAMPLE_RUN,                   \
	.needs_bpf = true, .fires = true
#define BB_TRAFFIC_FUNCTIONS                                                                       \
	.probe = bb_traffic__probe, .attach = bb_traffic__attach, .batch = bb_traffic__batch,      \
	.detach = bb_traffic__detach, .close = bb_traffic__close

#endif
