/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_LINES_HELD_H
#define BB_LINES_HELD_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * The calls after which a program holds something that the verifier wants back before the program
 * ends: a record of a ring buffer, a socket, a lock, an iterator, a section of RCU. Who ends the
 * program earlier than it does itself has to give those back.
 */
enum bb_held_by {
	BB_HELD_RESULT,   /* the pointer that the call returns, NULL: nothing is held */
	BB_HELD_ARGUMENT, /* the memory that one of its arguments points to */
	BB_HELD_SECTION,  /* nothing to name: a section that has begun */
};

struct bb_held {
	uint32_t at;   /* slot of the call */
	uint32_t func; /* in which function */
	enum bb_held_by by;
	uint8_t arg;     /* BB_HELD_ARGUMENT: the register */
	int32_t release; /* helper or kfunc that gives it back, with it as r1 */
	bool is_kfunc;   /* that one */
	bool has_flags;  /* it takes them in r2 */
	int32_t flags;   /* likewise */
};

#define BB_MAX_HELD 16u

struct bb_helds {
	struct bb_held v[BB_MAX_HELD]; /* by slot */
	uint32_t n;
	/* by slot: bit k: the call there, in the function of v[k], gives it back */
	uint32_t *released;
};

/*
 * Those of all functions; a call of one that returns what it took is such a call, too. What is
 * taken in other ways, or beyond BB_MAX_HELD, is not in it: the
 * verifier then refuses to end the program where it is held. 0 or -ENOMEM.
 */
int bb_helds__find(const struct bb_code *code, const struct bb_cfg *g, struct bb_helds *ret_helds,
		   struct bb_err *err);
void bb_helds__done(struct bb_helds *h);

#endif
