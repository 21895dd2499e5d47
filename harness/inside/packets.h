/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "base/rng.h"
#include "inside/instrument.h"

#define BB_INSIDE_KEPT 2 /* packets of a path: the first one that was seen, and one at random */

struct bb_inside_packet {
	uint32_t len;   /* length of the packet, bytes */
	uint8_t *bytes; /* bytes[n]: its first bytes */
	uint32_t n;     /* 0: there is no packet */
};

/* The packets that a clone copied, by path. */
struct bb_inside_packets {
	struct bb_inside_path_packets {
		uint64_t key; /* key of the path in its slots */
		uint64_t n_seen;
		struct bb_inside_packet kept[BB_INSIDE_KEPT];
	} * paths;
	size_t n_paths;
	uint64_t *n_taken; /* n_taken[n_stripes]: copies that were looked at */
	struct bb_rng rng;
};

/* Looks at the packets that the clone copied since the last call. Those that the clone overwrote
 * meanwhile, and those whose runs have not ended, are lost. */
void bb_inside_packets__collect(struct bb_inside_packets *p, const struct bb_inside_clone *c);
void bb_inside_packets__done(struct bb_inside_packets *p);

/* Returns the packets of a path; NULL if there are none. */
struct bb_inside_path_packets *bb_inside_packets__of(const struct bb_inside_packets *p,
						     uint64_t key);

/* Returns how many different packets of a path are kept. They come first in `kept`. */
uint32_t bb_inside_packets__differ(const struct bb_inside_path_packets *of);
