/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BB_BPF_INSN_H
#define BB_BPF_INSN_H

#include "base/std.h"

#include <linux/bpf.h>

/*
 * The kinds of BPF instructions, for the code that cuts programs into blocks (RFC 9669;
 * kernel/bpf/verifier.c). Positions are indices of 8-byte slots; a 64-bit constant takes two, and
 * counts as one instruction.
 */
#define BB_LD_IMM64 (BPF_LD | BPF_IMM | BPF_DW)
#define BB_JCOND 0xe0         /* may_goto; 6.9: newer than the headers of Debian 12 */
#define BB_LOAD_ACQUIRE 0x100 /* 6.15 */
#define BB_STORE_RELEASE 0x110
#define BB_CORE_POISON                                                                             \
	195896080 /* libbpf's call in place of a failed CO-RE relocation; never runs */

static inline bool bb_insn_is_wide(const struct bpf_insn *i)
{
	return i->code == BB_LD_IMM64;
}

/* The slots that it takes: at += bb_insn_slots(&insns[at]) goes on to the next instruction. */
static inline uint32_t bb_insn_slots(const struct bpf_insn *i)
{
	return bb_insn_is_wide(i) ? 2 : 1;
}

/* Is slot `at` no instruction but the second half of one? */
static inline bool bb_insn_is_second_half(const struct bpf_insn *insns, uint32_t at)
{
	return at && bb_insn_is_wide(&insns[at - 1]);
}

static inline bool bb_insn_is_exit(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_EXIT);
}

static inline bool bb_insn_is_call(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_CALL);
}

/* Of a helper: its number is in imm. */
static inline bool bb_insn_is_helper_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == 0;
}

static inline bool bb_insn_is_kfunc_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

/* Of a function of the program: it begins at this slot's index + 1 + imm. */
static inline bool bb_insn_is_function_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == BPF_PSEUDO_CALL;
}

/* Loads the address of a function of the program, a callback; likewise at + 1 + imm. */
static inline bool bb_insn_is_function_address(const struct bpf_insn *i)
{
	return bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_FUNC;
}

static inline bool bb_insn_is_jump(const struct bpf_insn *i)
{
	uint8_t class = BPF_CLASS(i->code), op = BPF_OP(i->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

/* Always taken. */
static inline bool bb_insn_is_goto(const struct bpf_insn *i)
{
	return bb_insn_is_jump(i) && BPF_OP(i->code) == BPF_JA;
}

/* A goto with 32 bits of distance, in imm (6.6). */
static inline bool bb_insn_is_long_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP32 | BPF_JA);
}

/* An indirect jump: a register holds its target, and the targets are in a map (6.19). */
static inline bool bb_insn_is_indirect_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_JA | BPF_X);
}

static inline bool bb_insn_is_packet_load(const struct bpf_insn *i)
{
	return BPF_CLASS(i->code) == BPF_LD &&
	       (BPF_MODE(i->code) == BPF_ABS || BPF_MODE(i->code) == BPF_IND);
}

/* May control leave the program here for good? A tail call, a load beyond the packet; any kfunc
 * could be bpf_throw. */
static inline bool bb_insn_may_leave(const struct bpf_insn *i)
{
	return bb_insn_is_packet_load(i) || bb_insn_is_kfunc_call(i) ||
	       (bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_tail_call);
}

/* The slot that the jump at slot `at` goes to, when taken. May be anything in a program that nobody
 * has verified. */
static inline int64_t bb_insn_jump_target(const struct bpf_insn *i, uint32_t at)
{
	return (int64_t)at + 1 + (bb_insn_is_long_goto(i) ? i->imm : i->off);
}

/* The first slot of the function that the call or address at slot `at` names. */
static inline int64_t bb_insn_function_target(const struct bpf_insn *i, uint32_t at)
{
	return (int64_t)at + 1 + i->imm;
}

#endif
