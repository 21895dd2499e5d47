/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "core/hist.h"
#include "inside/instrument.h"

/* The measurements of one path, or of all runs of a clone. The figures of all stripes (parts of the
 * clone's memory, instrument.h) are added up. */
struct bb_inside_path {
	/* key of the path's slots; 0: this is not one path, but all runs that found no free slot */
	uint64_t key;
	uint64_t runs;           /* runs that ended */
	uint64_t timed;          /* runs that ended and were timed */
	double sum_ns, worst_ns; /* sum and maximum of the times of the timed runs, including the
				    cost of reading the clock */
	uint64_t retval;         /* return value of one of the runs; 0 if `key` is 0 */
	bool varies;             /* true: a run returned another value than `retval` */
	uint32_t exit;           /* exit at which the path ends, an index in clone->exits */
	uint64_t turns;          /* iterations of all loops together, in one of the runs */
	uint64_t *words; /* words[clone->n_words]: marks of the blocks that the path executes */
	uint64_t buckets[BB_INSIDE_BUCKETS];
};

struct bb_inside_figures {
	uint64_t began; /* runs that ended; if a run may end without an exit: runs that began */
	struct bb_inside_path all;
	struct bb_inside_path *paths; /* sorted: the most frequent path first */
	size_t n_paths;
};

/* Reads the measurements of a clone, which may still run. */
struct bb_inside_figures bb_inside_figures__read(const struct bb_inside_clone *c);
void bb_inside_figures__done(struct bb_inside_figures *f);

/* Returns the quantile `share` (0..1) of the times of the timed runs, ns, minus clock_ns (the cost
 * of reading the clock). Interpolates within a bucket, up to the longest time. NAN: no run was
 * timed. */
double bb_inside_path__quantile(const struct bb_inside_path *p, double share, double clock_ns);
/* Returns the mean time of the timed runs, ns, minus clock_ns. NAN: no run was timed. */
double bb_inside_path__mean(const struct bb_inside_path *p, double clock_ns);
/* Returns the time of the longest timed run, ns, minus clock_ns. NAN: no run was timed. */
double bb_inside_path__worst(const struct bb_inside_path *p, double clock_ns);

/* Adds the times of the timed runs to *hist, in ns, each minus clock_ns. The runs of a bucket are
 * spread evenly over the bucket's range; the longest time is exact. */
void bb_inside_path__samples(const struct bb_inside_path *p, double clock_ns, struct bb_hist *hist);

/* True if basic block `block` has a mark and runs of the path execute the block. */
bool bb_inside_path__marks(const struct bb_inside_clone *c, const struct bb_inside_path *p,
			   uint32_t block);

#define BB_INSIDE_KEPT 2 /* packets kept of each path: the first one, and a random later one */

struct bb_inside_packet {
	uint32_t len;   /* length of the packet, bytes */
	uint8_t *bytes; /* bytes[n]: the first bytes of the packet */
	uint32_t n;     /* number of kept bytes; 0 if this element holds no packet */
};

/* The packets that a clone copied and that we keep, by path. */
struct bb_inside_packets {
	struct bb_inside_path_packets {
		uint64_t key;    /* key of the path, the same as in its slots */
		uint64_t n_seen; /* number of the path's packets that were read so far */
		struct bb_inside_packet kept[BB_INSIDE_KEPT];
	} * paths;
	size_t n_paths;
	/* n_taken[n_stripes]: number of copied packets that were read from each stripe so far */
	uint64_t *n_taken;
	struct bb_rng rng;
};

/* Keeps some of the packets that the clone copied since the last call. Packets that the clone has
 * overwritten, and packets of runs that have not ended, are lost. */
void bb_inside_packets__collect(struct bb_inside_packets *p, const struct bb_inside_clone *c);
void bb_inside_packets__done(struct bb_inside_packets *p);

/* Returns the packets of a path; NULL if there are none. */
struct bb_inside_path_packets *bb_inside_packets__of(const struct bb_inside_packets *p,
						     uint64_t key);

/* Returns how many different packets are kept of a path: 0 to BB_INSIDE_KEPT. These come first in
 * `kept`. */
uint32_t bb_inside_packets__differ(const struct bb_inside_path_packets *of);
