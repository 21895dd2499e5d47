/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/rewrite.h"

/* A clone of a program, with the program's maps, BTF and attach type. It counts how often each
 * basic block is executed. The instructions that are added for this are not counted: `cfg`
 * describes the original program. */
struct bb_clone {
	const struct bb_code *code; /* borrowed */
	struct bb_cfg cfg;
	int prog_fd;
	/* one counter for each basic block, then one for each watched call (`vain`) */
	struct bb_shared_memory counts;
	/* slots, in ascending order, of the map lookups and tail calls that are watched: the clone
	 * counts how often each of them fails */
	uint32_t *vain, n_vain;
	/* keys[n_vain][BB_KEY_BYTES]: the key that each watched lookup last failed to find; NULL if
	 * keys are not logged */
	const volatile uint8_t *keys;
	uint32_t *key_bytes; /* key_bytes[n_vain]: size of the key that each watched call logs; 0 if
				it logs none */
	uint32_t n_unwatched; /* number of map lookups and tail calls that are not watched, because
				 the verifier refuses the clone with their counters */
	uint32_t n_insns;     /* number of slots of the clone's code, with the counters */
	/* n_saved: number of basic blocks that save a register, plus number of logged keys. n_long:
	 * number of jumps that became long jumps. */
	uint32_t n_saved, n_long;
};

/*
 * Makes and loads the clone. Returns -ENOTSUP with the reason, if possible in the verifier's words,
 * in these cases: no free register and no room on the stack to save one, too complex for the
 * verifier, more than 65 536 instructions with counters, or an instruction that we cannot
 * instrument. `code` and its load must outlive the clone. If `logs_keys`, the clone also logs the
 * keys of failed lookups, up to BB_KEY_BYTES long, unless only a clone without them can be loaded.
 */
#define BB_KEY_BYTES 64u
int bb_clone__load(const struct bb_code *code, bool logs_keys, struct bb_clone *ret_clone,
		   struct bb_err *err);
void bb_clone__done(struct bb_clone *c);

/* Sets every counter to 0. The program must not run meanwhile. */
void bb_clone__reset(const struct bb_clone *c);

/* Writes how often each basic block was executed since bb_clone__reset() to
 * ret_counts[cfg.n_blocks]. */
void bb_clone__read(const struct bb_clone *c, uint64_t *ret_counts);
