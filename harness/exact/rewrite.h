/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* A program to which instructions are added. The caller writes all new slots in order and sets
 * `moved` and `landing` for each old instruction. */
struct bb_rewrite {
	const struct bb_code *code; /* borrowed */
	const char *with;           /* a word for what is added, for messages: "counters" */
	struct bpf_insn *insns;
	uint32_t n;
	/* For each slot of the old code, a slot of the new code. `moved` has one more element, for
	 * the end of the program. */
	uint32_t *moved;   /* first of the instructions added before the old instruction */
	uint32_t *landing; /* target of jumps to the old instruction */
	uint32_t *at;      /* the old instruction itself */
	/* by old slot; true: the jump is too far for a short jump, so it is written as a long
	 * one */
	bool *is_long;
	uint32_t n_long;
};

#define BB_LONG_SLOTS 3u /* slots of a long conditional jump */
/* Most instructions of a clone that we load, because loading a large clone takes long: the kernel
 * removes dead code piece by piece and moves the rest of the program each time. A clone of this
 * size with a `ja +0` in every block took 3.5 s to load; one of 400 000 instructions locked up a
 * CPU for 284 s. */
#define BB_MOST_INSNS 65536u

/* Allocates room for `most` slots; bb_rewrite__done() frees it. Before, the caller must set the
 * members code and with. */
void bb_rewrite__open(struct bb_rewrite *r, size_t most);
void bb_rewrite__done(struct bb_rewrite *r);

void bb_emit(struct bb_rewrite *r, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
	     int32_t imm);
/* Emits: reg = address of a byte in the only value of an array map. */
void bb_emit_address(struct bb_rewrite *r, uint8_t reg, int map_fd, uint32_t offset);
/* Emits code that saves the registers that bb_registers__two() wants saved, at r10 + off - 8 and
 * r10 + off - 16. If `is_back`, the code restores them instead. */
void bb_emit_saves(struct bb_rewrite *r, const uint8_t reg[2], const uint8_t save[2], int off,
		   bool is_back);
/* Emits the instruction of old slot `at`. A jump keeps its old target until bb_rewrite__mend() sets
 * the new one. */
void bb_emit_old(struct bb_rewrite *r, uint32_t at);

/* Lets the jump at the new slot `from` lead to the new slot `to`. Returns false if `to` is too far
 * away for this kind of jump. */
bool bb_rewrite__jump(struct bb_rewrite *r, uint32_t from, uint32_t to);
/* Redirects all jumps, calls and callbacks to the new slots of their targets. Returns false if some
 * jumps are too far. These jumps are then marked as long, and the caller must lay out the whole
 * program again. */
bool bb_rewrite__mend(struct bb_rewrite *r);

/* Returns a copy of records[n], which are records of func_info or line_info, `size` bytes each. The
 * copy names the new slots, or is unchanged if `r` is NULL. The caller must free() it. */
void *bb_rewrite__records(const struct bb_rewrite *r, const void *records, uint32_t n, size_t size);

/* Loads the rewritten form of `code`; if `now` is NULL, loads the original. Returns -ENOTSUP, with
 * the verifier's words if there are any, if the kernel refuses the program. -EPERM, -EINTR, -EAGAIN
 * and -ENOMEM are returned unchanged, except an -ENOMEM by which the kernel says that a jump is too
 * far. */
int bb_load__program(const struct bb_code *code, const struct bb_rewrite *now, int *ret_fd,
		     struct bb_err *err);

/* Loads a program of the same type as `code` that returns `retval` at once. */
int bb_load__empty(const struct bb_code *code, int32_t retval, int *ret_fd, struct bb_err *err);

/*
 * Writes the stack size of each function, bytes, to ret_bytes[g->n_funcs]. Each size is the larger
 * of two figures: the verifier's, from one more load of the original, and the depth that the
 * instructions show. The verifier does not count code that it removes; the instructions do not show
 * how far a helper writes.
 */
int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err);
/* limit: bytes of stack of a program; the kernel calls it MAX_BPF_STACK */
#define BB_STACK_BYTES 512u

/* The only value of an array map, shared by a program and this process. It begins as zeros. */
struct bb_shared_memory {
	int fd;               /* descriptor of the map; 0 or -1: no map */
	volatile uint64_t *v; /* the mapped value; NULL if not mapped */
	size_t bytes;
};

/* Makes the map `name` and maps its value, `bytes` long. Returns 0, or -errno with a message:
 * -ENOTSUP if the kernel is older than 5.5. */
int bb_shared_memory__open(const char *name, size_t bytes, struct bb_shared_memory *ret_memory,
			   struct bb_err *err);
void bb_shared_memory__close(struct bb_shared_memory *m);
