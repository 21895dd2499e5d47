/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/rewrite.h"

/* A copy (clone) of a program that counts how often each basic block is executed. Instructions that
 * were added are not counted, because `cfg` describes the original. */
struct bb_clone {
	const struct bb_code *code;
	struct bb_cfg cfg;
	int prog_fd;
	/* one counter for each basic block, then one for each watched call */
	struct bb_shared_memory counts;
	/* slots of the watched calls (map lookups, tail calls), ascending; we count how often each
	 * of them fails */
	uint32_t *vain, n_vain;
	/* keys[n_vain][BB_KEY_BYTES], the last key that each watched lookup did not find; NULL if
	 * not logged */
	const volatile uint8_t *keys;
	uint32_t *key_bytes;  /* by watched call: size of the key that it logs; 0 if it logs none */
	uint32_t n_unwatched; /* number of lookups and tail calls that are not watched, because the
			       * verifier refused their counters */
	uint32_t n_insns;     /* slots of the clone's code */
	/* number of basic blocks that save a register, plus logged keys; number of long jumps */
	uint32_t n_saved, n_long;
};

/* Makes and loads the clone. Fails with -ENOTSUP if it is too complex for the verifier, has more
 * than 65 536 instructions, needs more registers or stack than there are, or has an instruction
 * that we cannot handle. `code` and its load must outlive the clone. With `logs_keys`, the clone
 * also logs the keys of failed lookups, up to BB_KEY_BYTES long, if such a clone can be loaded. */
#define BB_KEY_BYTES 64u
int bb_clone__load(const struct bb_code *code, bool logs_keys, struct bb_clone *ret_clone,
		   struct bb_err *err);
void bb_clone__done(struct bb_clone *c);

/* The program must not run meanwhile. */
void bb_clone__reset(const struct bb_clone *c);

/* Reads how often each basic block was executed since bb_clone__reset(). */
void bb_clone__read(const struct bb_clone *c, uint64_t *ret_counts);
