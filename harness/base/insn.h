/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <linux/bpf.h>

#include "base/std.h"

/* Kinds of BPF instructions (RFC 9669; kernel/bpf/verifier.c). Positions are indices of 8-byte
 * slots. A 64-bit constant takes two slots. */
#define BB_LD_IMM64 (BPF_LD | BPF_IMM | BPF_DW)
#define BB_JCOND 0xe0         /* may_goto, Linux 6.9 */
#define BB_LOAD_ACQUIRE 0x100 /* `imm` of an atomic instruction, Linux 6.15 */
#define BB_STORE_RELEASE 0x110
/* The helper number that libbpf puts into an instruction whose CO-RE relocation failed. The kernel
 * has no such helper, so a loaded program never runs that call. */
#define BB_CORE_POISON 195896080

static inline bool bb_insn_is_wide(const struct bpf_insn *i)
{
	return i->code == BB_LD_IMM64;
}

static inline uint32_t bb_insn_slots(const struct bpf_insn *i)
{
	return bb_insn_is_wide(i) ? 2 : 1;
}

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

static inline bool bb_insn_is_helper_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == 0;
}

static inline bool bb_insn_is_tail_call(const struct bpf_insn *i)
{
	return bb_insn_is_helper_call(i) && i->imm == BPF_FUNC_tail_call;
}

static inline bool bb_insn_is_kfunc_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == BPF_PSEUDO_KFUNC_CALL;
}

static inline bool bb_insn_is_function_call(const struct bpf_insn *i)
{
	return bb_insn_is_call(i) && i->src_reg == BPF_PSEUDO_CALL;
}

/* True if the instruction loads the address of a callback in the same program. */
static inline bool bb_insn_is_function_address(const struct bpf_insn *i)
{
	return bb_insn_is_wide(i) && i->src_reg == BPF_PSEUDO_FUNC;
}

static inline bool bb_insn_is_jump(const struct bpf_insn *i)
{
	uint8_t class = BPF_CLASS(i->code), op = BPF_OP(i->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static inline bool bb_insn_is_goto(const struct bpf_insn *i)
{
	return bb_insn_is_jump(i) && BPF_OP(i->code) == BPF_JA;
}

/* True for a goto with a 32-bit distance in `imm` (Linux 6.6). */
static inline bool bb_insn_is_long_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP32 | BPF_JA);
}

/* True for a jump to a register's value, one of the targets in a map (Linux 6.19). */
static inline bool bb_insn_is_indirect_goto(const struct bpf_insn *i)
{
	return i->code == (BPF_JMP | BPF_JA | BPF_X);
}

static inline bool bb_insn_is_packet_load(const struct bpf_insn *i)
{
	return BPF_CLASS(i->code) == BPF_LD &&
	       (BPF_MODE(i->code) == BPF_ABS || BPF_MODE(i->code) == BPF_IND);
}

/* True if the program may end here: at a tail call, at a load beyond the packet's end, or at a
 * kfunc, which could be bpf_throw(). */
static inline bool bb_insn_may_leave(const struct bpf_insn *i)
{
	return bb_insn_is_packet_load(i) || bb_insn_is_kfunc_call(i) || bb_insn_is_tail_call(i);
}

/* Slot to which the jump at slot `at` goes. It may be out of range in an unverified program. */
static inline int64_t bb_insn_jump_target(const struct bpf_insn *i, uint32_t at)
{
	return (int64_t)at + 1 + (bb_insn_is_long_goto(i) ? i->imm : i->off);
}

/* First slot of the function that the call or address at slot `at` refers to. */
static inline int64_t bb_insn_function_target(const struct bpf_insn *i, uint32_t at)
{
	return (int64_t)at + 1 + i->imm;
}
