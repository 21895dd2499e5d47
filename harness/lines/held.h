/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* Some calls acquire a resource: a ring buffer record, a socket, a lock, an iterator, an RCU read
 * section. The verifier demands that a program releases it before the program ends. A clone that
 * ends the program early has to release it, too. */
enum bb_held_by {
	/* the resource is the pointer that the call returns; if that is NULL, nothing is held */
	BB_HELD_RESULT,
	BB_HELD_ARGUMENT, /* the resource is the memory that an argument of the call points to */
	/* the resource is a section without a pointer, such as an RCU read section */
	BB_HELD_SECTION,
};

struct bb_held {
	uint32_t at;   /* slot of the call */
	uint32_t func; /* function that contains the call */
	enum bb_held_by by;
	/* number of the register that has the argument; used only for BB_HELD_ARGUMENT */
	uint8_t arg;
	/* id of the helper or kfunc that releases the resource; it takes the resource as its
	 * first argument (r1) */
	int32_t release;
	bool is_kfunc;  /* true: `release` is a kfunc; false: a helper */
	bool has_flags; /* true: `release` takes `flags` in r2 */
	int32_t flags;
};

#define BB_MAX_HELD 16u

struct bb_helds {
	struct bb_held v[BB_MAX_HELD]; /* sorted by slot */
	uint32_t n;
	/* released[slot]: bit k is set if the call at the slot releases v[k] */
	uint32_t *released;
};

/*
 * Finds the acquiring calls of all functions. If a function returns a resource that it acquired, a
 * call of that function is an acquiring call, too. Only known kinds of resources are found, and at
 * most BB_MAX_HELD calls. At a cut where the program holds any other resource, the verifier refuses
 * the clone. Free the result with bb_helds__done().
 */
void bb_helds__find(const struct bb_code *code, const struct bb_cfg *g, struct bb_helds *ret_helds);
void bb_helds__done(struct bb_helds *h);
