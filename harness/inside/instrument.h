/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/rewrite.h"

/*
 * A clone is a copy of a program with added instructions. It does what the program does. It also
 * counts its runs, reads the clock at its entry and its exits, and notes the path of each run.
 *
 * The path of a run consists of three things: the set of basic blocks of the main function that the
 * run executes, the exit that it takes, and the number of iterations of all its loops together,
 * rounded down to a power of two. Without loops, the set of blocks determines their order. Branches
 * in subprograms are not part of a path.
 *
 * The state of a run is on the program's own stack, so that nested runs never mix. The figures are
 * in memory that the clone shares with bpfbench. This memory is divided into stripes. Each CPU has
 * a stripe, to which the runs on that CPU write. Several CPUs may have the same stripe. Counts of
 * ended runs and sums of times are added up atomically.
 */
enum bb_inside_with {
	BB_INSIDE_TIME = 1,
	BB_INSIDE_PATHS = 2, /* the clone tells paths apart */
	/* The clone copies the packets of some runs, as they are when the run begins. Needs
	 * BB_INSIDE_TIME and BB_INSIDE_PATHS. For a program on a raw tracepoint, the clone copies,
	 * in place of a packet, those words of the context that the program reads. `snap` is then
	 * the size of the context up to the last of these words. */
	BB_INSIDE_PACKETS = 4,
	/* the clone notes which programs tail-called each other before it; needs BB_INSIDE_TIME */
	BB_INSIDE_CHAINS = 8,
};

/* Layout of the shared memory, with offsets in bytes. The memory has a head and stripes[n_stripes].
 * A stripe has a head and slots[n_slots + 1]. The first n_slots slots are a table, in which each
 * path has one slot. The last slot counts the runs of paths for which the table had no room. If the
 * clone copies packets, packets[BB_INSIDE_RING] follow in the stripe. A new packet overwrites the
 * oldest one. Runs of different stripes never write to one cache line (64 bytes). */
#define BB_INSIDE_MASK 0u  /* in the memory's head: a run is timed if (run number & mask) is 0 */
#define BB_INSIDE_ZERO 8u  /* in the memory's head: holds 0, but the verifier does not know that */
#define BB_INSIDE_LOG2 16u /* in the memory's head: uint8_t[32], logarithms to base 2 */
/* in the memory's head: the packet of a timed run is copied if (run number & mask) is 0 */
#define BB_INSIDE_PACKET_MASK 48u
#define BB_INSIDE_STRIPES 64u /* size of the memory's head */
#define BB_INSIDE_RUNS 0u     /* in a stripe's head: runs that have begun */
#define BB_INSIDE_TAKEN 8u    /* in a stripe's head: packets that were copied */
#define BB_INSIDE_HEAD 64u    /* size of a stripe's head */
#define BB_INSIDE_KEY 0u      /* in a slot: number or hash of its path; 0 if the slot is free */
#define BB_INSIDE_UNTIMED 8u  /* in a slot: runs that ended and were not timed */
#define BB_INSIDE_SUM 16u     /* in a slot: sum of the times of the timed runs, ns */
/* in a slot: longest time of a run, ns; a time may be lost if two runs write here at once */
#define BB_INSIDE_WORST 24u
/* in a slot: return value of the first run with this path; 0 in the last slot */
#define BB_INSIDE_RETVAL 32u
/* in a slot: not 0 if a run returned another value than the one at BB_INSIDE_RETVAL */
#define BB_INSIDE_VARIES 40u
#define BB_INSIDE_EXIT 48u /* in a slot: index in clone->exits of the path's exit */
/* in a slot: uint64_t counts[BB_INSIDE_BUCKETS], the number of timed runs in each bucket */
#define BB_INSIDE_HIST 64u
#define BB_INSIDE_BUCKETS 512u
/* in a slot: uint64_t marks[n_words], followed by the number of loop iterations */
#define BB_INSIDE_MARKS (BB_INSIDE_HIST + 8u * BB_INSIDE_BUCKETS)
#define BB_INSIDE_MOST_PATHS 1024u
/* In a packet, BB_INSIDE_KEY is the key of its run's path. It is 0 if the run has not ended, or if
 * its path has no slot. */
#define BB_INSIDE_LEN 8u    /* in a packet: its length, bytes */
#define BB_INSIDE_BYTES 16u /* in a packet: its first `snap` bytes */
#define BB_INSIDE_RING 64u
#define BB_INSIDE_MOST_SNAP 1514u

/* A chain is a sequence of programs, each of which tail-calls the next one. Chains have a memory of
 * their own. It has the layout of a clone's memory, but each slot is for one chain. The key of the
 * slot names the last 8 programs of the chain, one byte each, with the last program in the lowest
 * byte. After the stripes comes one hand-over for each CPU. Before a tail call, a program writes
 * the hand-over of its CPU, and the called program reads it. */
/* Offsets in a hand-over. BB_INSIDE_CALLER is the address of the context in the program that makes
 * the tail call. In the called program, the context has the same address, by which that program
 * knows that the hand-over is for it. The address 0 means that nothing is handed over. */
#define BB_INSIDE_CALLER 0u
#define BB_INSIDE_CHAIN 8u  /* key of the chain so far */
#define BB_INSIDE_SPENT 16u /* time of the chain so far, ns; -1 if it is not timed */
#define BB_INSIDE_HAND_OVER 64u
#define BB_INSIDE_CHAINED 255u /* the most programs that keys can tell apart */
#define BB_INSIDE_CHAIN_OF 8u  /* the most programs that a key names */

struct bb_inside_clone {
	unsigned int with; /* what the clone measures: bits of enum bb_inside_with */
	uint32_t n_stripes, stripe_bytes, n_slots, slot_bytes;
	/* snap: the most bytes of a packet that are copied. packet_bytes: the size of an element of
	 * packets[]. */
	uint32_t snap, packet_bytes;
	/* Some basic blocks have a mark: added code that sets a byte on the stack or, if the stack
	 * has no room for so many bytes, a bit. No mark uses the lowest byte of an 8-byte word,
	 * because the verifier keeps track of constants that are written there. */
	/* mark_of[block]: number of the block's mark, from 1 on; 0 if it has none */
	uint32_t *mark_of;
	uint32_t n_marks, n_words;
	uint32_t marks_a_byte; /* marks in a byte: 1, or 8 if each mark is a bit */
	uint32_t *exits;       /* exits[n_exits]: index of each exit or tail call in the code */
	uint32_t n_exits;
	bool has_turns; /* the main function has loops, whose iterations are counted */
	/* True if the clone counts exactly how many runs begin. It does so if a run may end without
	 * reaching an exit, or if the clone counts nothing else. */
	bool counts_entries;
	struct bb_shared_memory memory;
	uint32_t n_insns;
};

#define BB_INSIDE_MARK_BYTES 7u /* bytes of each 8-byte word that hold marks */

/* Returns the number of the bit in marks[n_words] that mark `mark` (from 0 on) sets. */
static inline uint32_t bb_inside_clone__bit_of(const struct bb_inside_clone *c, uint32_t mark)
{
	uint32_t a_word = c->marks_a_byte * BB_INSIDE_MARK_BYTES, rest = mark % a_word;

	return mark / a_word * 64 + (1 + rest / c->marks_a_byte) * 8 + rest % c->marks_a_byte;
}

/* Writes to *ret_bytes how deep the main function's stack is by the offsets in its instructions.
 * Returns false if it may be deeper, because of computed or stored addresses or subprograms. */
bool bb_inside__depth(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes);

struct bb_inside_instruments {
	unsigned int with; /* what the clone measures: bits of enum bb_inside_with */
	uint32_t snap;     /* with packets: the most bytes of a packet that are copied */
	/* with chains: the memory of chains (bb_inside_chains__open()) */
	const struct bb_inside_clone *chains;
	uint32_t number; /* with chains: the program's number, 1 to BB_INSIDE_CHAINED */
	/* An earlier clone of the same code with the same instruments, or NULL. The new clone
	 * borrows the earlier one's memory and adds its figures there. Before
	 * bb_inside_clone__done() of the new clone, the caller must zero its `memory`. */
	const struct bb_inside_clone *earlier;
};

/* Makes a clone and writes its code to *ret_out. The caller loads the code and frees it with
 * bb_rewrite__done(). `stack_bytes` is the depth of the main function's stack. Returns -ENOTSUP if
 * the stack has no room for the clone's state or the clone is too long. */
int bb_inside_clone__make(const struct bb_code *code, const struct bb_cfg *g, uint32_t stack_bytes,
			  const struct bb_inside_instruments *instruments,
			  struct bb_inside_clone *ret_clone, struct bb_rewrite *ret_out,
			  struct bb_err *err);
/* Makes the memory of chains. All clones with BB_INSIDE_CHAINS share it with each other and with
 * bpfbench. The caller closes it with bb_inside_clone__done(). Returns 0 or -errno. */
int bb_inside_chains__open(struct bb_inside_clone *ret_chains);
void bb_inside_clone__done(struct bb_inside_clone *c);

/* From now on, the clone times every 2^k-th run and copies the packet of every 2^l-th run, where
 * `mask` is 2^k - 1 and `packet_mask` is 2^l - 1. */
void bb_inside_clone__time_each(const struct bb_inside_clone *c, uint64_t mask,
				uint64_t packet_mask);

/* Returns how many runs have begun. This is exact if c->counts_entries. Otherwise, simultaneous
 * runs may be counted as one, and the number is 0 if the clone does not read the clock. */
uint64_t bb_inside_clone__begun(const struct bb_inside_clone *c);
