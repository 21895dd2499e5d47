/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_INSIDE_INSTRUMENT_H
#define BB_INSIDE_INSTRUMENT_H

#include "base/err.h"
#include "base/std.h"
#include "exact/cfg.h"
#include "exact/rewrite.h"

/*
 * A clone of a program that does what the program does, counts its runs, reads the clock at its
 * entry and its exits, and notes the path that each run takes.
 *
 * A path is the set of basic blocks that a run executes in the main function, its exit, and the
 * turns of its loops, rounded to a power of two. Without loops this set tells the sequence.
 * Branches of subprograms are not part of it.
 *
 * The state of a run is on the program's own stack, so that nested runs never mix. The figures are
 * in shared memory, in one stripe for each CPU (or for several), and all additions are atomic.
 */
enum bb_inside_with {
	BB_INSIDE_TIME = 1,  /* the clock is read */
	BB_INSIDE_PATHS = 2, /* paths are told apart */
};

/* The memory is a head and stripes[n_stripes]. A stripe is a head and slots[n_slots + 1]: a table
 * of paths, and a last slot for the runs of all paths that found no room. Lines of 64 bytes that
 * runs write hold nothing that runs of other stripes read. */
#define BB_INSIDE_MASK 0u  /* of the memory: a run is timed if (its number & mask) is 0 */
#define BB_INSIDE_ZERO 8u  /* always 0, which the verifier does not know */
#define BB_INSIDE_LOG2 16u /* uint8_t[32]: logarithms of the powers of two */
#define BB_INSIDE_STRIPES 64u
#define BB_INSIDE_RUNS 0u /* of a stripe: see bb_inside_clone__begun() */
#define BB_INSIDE_HEAD 64u
#define BB_INSIDE_KEY 0u     /* of a slot: the path's number or hash; 0: the slot is free */
#define BB_INSIDE_UNTIMED 8u /* runs that ended and were not timed */
#define BB_INSIDE_TIMED 16u  /* runs that ended and were timed */
#define BB_INSIDE_SUM 24u    /* their time, ns */
#define BB_INSIDE_WORST 32u  /* ns; a nested run may overwrite a longer time */
#define BB_INSIDE_RETVAL 40u
#define BB_INSIDE_VARIES 48u /* another run returned another value */
#define BB_INSIDE_EXIT 56u   /* index of the exit */
#define BB_INSIDE_HIST 64u   /* uint32_t counts[BB_INSIDE_BUCKETS] */
#define BB_INSIDE_BUCKETS 512u
#define BB_INSIDE_MARKS (BB_INSIDE_HIST + 4u * BB_INSIDE_BUCKETS) /* words, then turns */
#define BB_INSIDE_MOST_PATHS 1024u

struct bb_inside_clone {
	unsigned int with; /* enum bb_inside_with */
	uint32_t n_stripes, stripe_bytes, n_slots, slot_bytes;
	/* A block with a mark sets a byte of its own on the stack. The lowest byte of each 8-byte
	 * word is not used: the verifier keeps constants there. */
	uint32_t *mark_of; /* by block: the mark's number from 1 on; 0: it has none */
	uint32_t n_marks, n_words;
	uint32_t *exits; /* by index: the slot of an exit, or of a tail call */
	uint32_t n_exits;
	bool has_turns;
	bool counts_entries; /* it may end without an exit: bb_inside_clone__begun() is exact */
	struct bb_shared_memory memory;
	uint32_t n_insns;
};

#define BB_INSIDE_MARKS_A_WORD 7u

/*
 * How deep the stack of the main function is, bytes, as far as its instructions name it. Returns
 * false if it may be deeper: the code computes addresses, keeps them in memory, or gives them to
 * functions of its own.
 */
bool bb_inside__depth(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes);

/*
 * Lay the clone out into *ret_out, whose instructions the caller loads and frees. `stack_bytes` is
 * how deep the stack of the main function is. -ENOTSUP where the clone has no room.
 */
int bb_inside_clone__make(const struct bb_code *code, const struct bb_cfg *g, uint32_t stack_bytes,
			  unsigned int with, struct bb_inside_clone *ret_clone,
			  struct bb_rewrite *ret_out, struct bb_err *err);
void bb_inside_clone__done(struct bb_inside_clone *c);

/* Every 2^k-th run is timed from now on; mask is 2^k - 1. */
void bb_inside_clone__time_each(const struct bb_inside_clone *c, uint64_t mask);

/* Runs that began so far. Exact if c->counts_entries; 0 if the clone needs no such number; else
 * runs at the same time may be counted as one. */
uint64_t bb_inside_clone__begun(const struct bb_inside_clone *c);

#endif
