/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* Some calls acquire a resource: a ring buffer record, a socket, a lock, an iterator, an RCU read
 * section. The verifier demands that it is released before the program ends, and so before a clone
 * ends a run early. */
enum bb_held_by {
	/* the pointer that the call returns; NULL means that nothing is held */
	BB_HELD_RESULT,
	BB_HELD_ARGUMENT, /* the memory that an argument of the call points to */
	/* a section without a pointer, such as an RCU read section */
	BB_HELD_SECTION,
};

struct bb_held {
	uint32_t at; /* slot of the call */
	uint32_t func;
	enum bb_held_by by;
	/* register of the argument, for BB_HELD_ARGUMENT */
	uint8_t arg;
	/* id of the helper or kfunc that releases the resource, which it takes in r1 */
	int32_t release;
	bool is_kfunc;  /* true if `release` is a kfunc */
	bool has_flags; /* true if `release` takes `flags` in r2 */
	int32_t flags;
};

#define BB_MAX_HELD 16u

struct bb_helds {
	struct bb_held v[BB_MAX_HELD]; /* sorted by slot */
	uint32_t n;
	/* by slot: bit k is set if the call there releases v[k] */
	uint32_t *released;
};

/* Finds the calls that acquire a resource, at most BB_MAX_HELD. A call of a function that returns
 * such a resource counts, too. If a program holds a resource of an unknown kind at a cut, the
 * verifier refuses the clone. */
void bb_helds__find(const struct bb_code *code, const struct bb_cfg *g, struct bb_helds *ret_helds);
void bb_helds__done(struct bb_helds *h);
