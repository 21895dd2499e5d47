/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_EXACT_REWRITE_H
#define BB_EXACT_REWRITE_H

#include "base/err.h"
#include "base/std.h"
#include "bpf/code.h"
#include "exact/cfg.h"

/*
 * A program that is laid out anew, with other instructions between its own: whoever does so writes
 * all slots one after the other, and says where each instruction of old begins.
 */
struct bb_rewrite {
	const struct bb_code *code; /* borrowed, as is the graph */
	const struct bb_cfg *g;
	const char *with; /* in messages: what is added, "counters" */
	struct bpf_insn *insns;
	uint32_t n;
	/* by old slot: where it is now with all that is put before it (and where the end is); where
	 * jumps to it lead; where the instruction itself is */
	uint32_t *moved, *landing, *at;
	bool *is_long; /* by old slot: a jump that does not reach but as a long one */
	uint32_t n_long;
};

#define BB_LONG_SLOTS 3u /* a long conditional jump */
/*
 * The kernel removes instructions without effect and dead code piece by piece, and moves all the
 * rest each time: with a `ja +0` in every block, a clone of this size takes it 3.5 s; a program of
 * 400 000, half of them that, locked a CPU up for 284 s.
 */
#define BB_MOST_INSNS 65536u

/* Room for `most` slots; code, g and with are set. */
int bb_rewrite__open(struct bb_rewrite *r, size_t most, struct bb_err *err);
void bb_rewrite__done(struct bb_rewrite *r);

void bb_emit(struct bb_rewrite *r, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
	     int32_t imm);
/* reg = the address of a byte of the only value of an array. */
void bb_emit_address(struct bb_rewrite *r, uint8_t reg, int map_fd, uint32_t offset);
/* Save the registers that bb_registers__two() says to, at r10 + off - 8 and - 16; or restore. */
void bb_emit_saves(struct bb_rewrite *r, const uint8_t reg[2], const uint8_t save[2], int off,
		   bool is_back);
/* The instruction of old slot `at`, which jumps to old places until all is mended. */
void bb_emit_old(struct bb_rewrite *r, uint32_t at);

/* The jump at the new slot `from` leads to the new slot `to`. False: it does not reach. */
bool bb_rewrite__jump(struct bb_rewrite *r, uint32_t from, uint32_t to);
/* Lead all jumps, calls and callbacks to where their targets are now. False: some jumps do not
 * reach; they are marked as long, and all is to be laid out again. */
bool bb_rewrite__mend(struct bb_rewrite *r);

/*
 * Load the rewritten form of `code` (NULL: the original). -ENOTSUP with the verifier's words when
 * it is refused; -EPERM, -ENOMEM and -EINTR as they are.
 */
int bb_load__program(const struct bb_code *code, const struct bb_rewrite *now, int *ret_fd,
		     struct bb_err *err);

/* A program of the same type that returns `retval` at once. */
int bb_load__empty(const struct bb_code *code, int32_t retval, int *ret_fd, struct bb_err *err);

/*
 * How deep each function's stack is, in bytes, into ret_bytes[g->n_funcs]: the deeper of two
 * figures, the verifier's, when it loads the original once more, and that of the instructions. (The
 * verifier does not count code that it removes as useless, and the instructions do not show how far
 * a helper writes.)
 */
int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err);
#define BB_STACK_BYTES 512u /* MAX_BPF_STACK */

/* An array of one value, zeros, that a program and this process see. */
struct bb_shared_memory {
	int fd;               /* of the map; 0 or -1: there is none */
	volatile uint64_t *v; /* mapped; NULL: not */
	size_t bytes;
};

int bb_shared_memory__open(const char *name, size_t bytes, struct bb_shared_memory *ret_memory,
			   struct bb_err *err);
void bb_shared_memory__close(struct bb_shared_memory *m);

#endif
