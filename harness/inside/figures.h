/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "core/hist.h"
#include "inside/instrument.h"

/* Measurements of one path or of all runs, over all stripes of the clone's memory. */
struct bb_inside_path {
	/* key of the path (instrument.h); 0 for runs of any path */
	uint64_t key;
	uint64_t runs;
	uint64_t timed; /* runs that ended and were timed */
	/* sum and maximum of the times of the timed runs, with the cost of reading the clock */
	double sum_ns, worst_ns;
	uint64_t retval; /* return value of one of the runs; 0 if `key` is 0 */
	bool varies;     /* true if a run returned another value */
	uint32_t exit;   /* index in clone->exits of the exit at which the path ends */
	uint64_t turns;
	/* words[clone->n_words]: marks of the basic blocks that the path executes */
	uint64_t *words;
	uint64_t buckets[BB_INSIDE_BUCKETS];
};

struct bb_inside_figures {
	uint64_t began; /* runs that ended or, if a run may end without an exit, runs that began */
	struct bb_inside_path all;
	struct bb_inside_path *paths; /* the most frequent path comes first */
	size_t n_paths;
};

/* Reads the figures of a clone, which may still run. */
struct bb_inside_figures bb_inside_figures__read(const struct bb_inside_clone *c);
void bb_inside_figures__done(struct bb_inside_figures *f);

/* Return the median, the mean and the maximum of the times of the timed runs, ns, the latter two
 * minus clock_ns (the cost of reading the clock). NAN if no run was timed. */
double bb_inside_path__median(const struct bb_inside_path *p);
double bb_inside_path__mean(const struct bb_inside_path *p, double clock_ns);
double bb_inside_path__worst(const struct bb_inside_path *p, double clock_ns);

/* Adds the times of the timed runs to *hist, ns, each minus clock_ns. The runs of a bucket are
 * spread evenly over its range. The longest time is exact. */
void bb_inside_path__samples(const struct bb_inside_path *p, double clock_ns, struct bb_hist *hist);

/* True if basic block `block` has a mark and runs of the path execute the block. */
bool bb_inside_path__marks(const struct bb_inside_clone *c, const struct bb_inside_path *p,
			   uint32_t block);

#define BB_INSIDE_KEPT 2 /* packets kept of each path: the first one and a random later one */

struct bb_inside_packet {
	uint32_t len;   /* length of the whole packet, bytes */
	uint8_t *bytes; /* bytes[n]: the first bytes of the packet */
	uint32_t n;     /* 0 if this element holds no packet */
};

struct bb_inside_packets {
	struct bb_inside_path_packets {
		uint64_t key;    /* key of the path */
		uint64_t n_seen; /* packets read so far */
		struct bb_inside_packet kept[BB_INSIDE_KEPT];
	} * paths;
	size_t n_paths;
	/* n_taken[n_stripes]: packets that were read from each stripe so far */
	uint64_t *n_taken;
	struct bb_rng rng;
};

/* Keeps some of the packets that the clone copied since the last call. Packets that the clone has
 * overwritten, and packets of unfinished runs, are lost. */
void bb_inside_packets__collect(struct bb_inside_packets *p, const struct bb_inside_clone *c);
void bb_inside_packets__done(struct bb_inside_packets *p);

struct bb_inside_path_packets *bb_inside_packets__of(const struct bb_inside_packets *p,
						     uint64_t key);

/* Returns how many different packets of a path are kept. These come first in `kept`. */
uint32_t bb_inside_packets__differ(const struct bb_inside_path_packets *of);
