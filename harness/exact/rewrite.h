/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "exact/cfg.h"

/* A program with added instructions. The caller writes all new slots in order, and sets `moved` and
 * `landing` for each old instruction. */
struct bb_rewrite {
	const struct bb_code *code;
	const char *with; /* what is added, for messages: "counters" */
	struct bpf_insn *insns;
	uint32_t n;
	/* by old slot: a new slot; `moved` has one more element, for the end of the program */
	uint32_t *moved;   /* first of the instructions added before the old instruction */
	uint32_t *landing; /* target of jumps to the old instruction */
	uint32_t *at;      /* the old instruction itself */
	/* by old slot: true if a jump needs the long form, because its target is too far */
	bool *is_long;
	uint32_t n_long;
};

#define BB_LONG_SLOTS 3u /* slots of a long conditional jump */
/* Most instructions of a clone that we load. Loading is slow, because the kernel removes dead code
 * piece by piece and moves the rest of the program each time. A clone of this size with a `ja +0`
 * in every block took 3.5 s. One of 400 000 instructions locked up a CPU for 284 s. */
#define BB_MOST_INSNS 65536u

/* Allocates room for `most` slots. Set `code` and `with` before. */
void bb_rewrite__open(struct bb_rewrite *r, size_t most);
void bb_rewrite__done(struct bb_rewrite *r);

void bb_emit(struct bb_rewrite *r, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
	     int32_t imm);
/* Emits code that puts the address of byte `offset` of the map's only value into `reg`. */
void bb_emit_address(struct bb_rewrite *r, uint8_t reg, int map_fd, uint32_t offset);
/* Emits code that saves the registers of bb_registers__two() at r10 + off - 8 and r10 + off - 16.
 * If `is_back`, the code restores them. */
void bb_emit_saves(struct bb_rewrite *r, const uint8_t reg[2], const uint8_t save[2], int off,
		   bool is_back);
/* Emits the instruction of old slot `at`. A jump keeps its old target until bb_rewrite__mend(). */
void bb_emit_old(struct bb_rewrite *r, uint32_t at);

/* Lets the jump at new slot `from` lead to new slot `to`. Returns false if that is too far for this
 * jump. */
bool bb_rewrite__jump(struct bb_rewrite *r, uint32_t from, uint32_t to);
/* Redirects all jumps, calls and callbacks to their new slots. Returns false if some jumps are too
 * far. They are then marked as long, and the caller must lay out the whole program again. */
bool bb_rewrite__mend(struct bb_rewrite *r);

/* Returns a copy of n records of func_info or line_info, `size` bytes each, with the new slots. The
 * caller must free() it. If `r` is NULL, the slots do not change. */
void *bb_rewrite__records(const struct bb_rewrite *r, const void *records, uint32_t n, size_t size);

/* Loads the rewritten program, or the original if `now` is NULL. Fails with -ENOTSUP if the kernel
 * refuses it. -EPERM, -EINTR, -EAGAIN and -ENOMEM are returned unchanged, except an -ENOMEM which
 * means that a jump is too far. */
int bb_load__program(const struct bb_code *code, const struct bb_rewrite *now, int *ret_fd,
		     struct bb_err *err);

/* Loads a program of the same type as `code` that only returns `retval`. */
int bb_load__empty(const struct bb_code *code, int32_t retval, int *ret_fd, struct bb_err *err);

/* Writes the stack size of each function, bytes, to ret_bytes[g->n_funcs]. It is the larger of two
 * figures. The verifier's figure, from one more load, lacks code that it removes. The depth that
 * the instructions show lacks what helpers write. */
int bb_load__stack_bytes(const struct bb_code *code, const struct bb_cfg *g, uint32_t *ret_bytes,
			 struct bb_err *err);
/* MAX_BPF_STACK of the kernel */
#define BB_STACK_BYTES 512u

/* The only value of an array map, shared by a program and this process. It begins as zeros. */
struct bb_shared_memory {
	int fd; /* 0 or -1 if there is no map */
	volatile uint64_t *v;
	size_t bytes;
};

/* Makes the map `name`, and maps its value of `bytes` bytes. Fails with -ENOTSUP before Linux
 * 5.5. */
int bb_shared_memory__open(const char *name, size_t bytes, struct bb_shared_memory *ret_memory,
			   struct bb_err *err);
void bb_shared_memory__close(struct bb_shared_memory *m);
