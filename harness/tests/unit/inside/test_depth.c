/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The depth of a program's stack, as far as its code shows it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "inside/instrument.h"

#define MOV_R10(to)                                                                                \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = BPF_REG_10        \
	}
#define ADD(to, number)                                                                            \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (to), .imm = (number)              \
	}
#define ADD_BY(to, by)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = (to), .src_reg = (by)              \
	}
#define STORE(base, offset)                                                                        \
	{                                                                                          \
		.code = BPF_ST | BPF_MEM | BPF_DW, .dst_reg = (base), .off = (offset)              \
	}
#define KEEP(base, offset, from)                                                                   \
	{                                                                                          \
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = (base), .off = (offset),            \
		.src_reg = (from)                                                                  \
	}
#define NUMBER(to, number)                                                                         \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (number)              \
	}
#define COPY(to, from)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)            \
	}
#define UNLESS(reg, by)                                                                            \
	{                                                                                          \
		.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (reg), .off = (by)                   \
	}

static bool is_known(struct bpf_insn *insns, uint32_t n, uint32_t *ret_bytes)
{
	struct bb_code code = {.insns = insns, .n = n + 2, .btf_fd = -1};
	struct bb_err err = {0};
	struct bb_cfg g;
	bool known;

	insns[n] = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K};
	insns[n + 1] = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	assert_int_equal(bb_cfg__make(&code, &g, &err), 0);
	known = bb_inside__depth(&code, &g, ret_bytes);
	bb_cfg__done(&g);
	return known;
}

static const struct {
	const char *what;
	struct bpf_insn insns[12];
	uint32_t n;
	bool is_known;
	uint32_t bytes;
} cases[] = {
	{"no stack", {NUMBER(1, 3)}, 1, true, 0},
	{"named by a store", {STORE(10, -24)}, 1, true, 24},
	{"named by an address", {MOV_R10(2), ADD(2, -40), STORE(2, 8)}, 3, true, 40},
	{"a copy that goes up", {MOV_R10(2), ADD(2, -40), COPY(3, 2), ADD(3, 8)}, 4, true, 40},
	{"numbers in a register that held an address",
	 {MOV_R10(2), ADD(2, -8), NUMBER(2, 5), ADD(2, -3), ADD_BY(2, 1)},
	 5,
	 true,
	 8},
	{"an address that goes down twice", {MOV_R10(2), ADD(2, -8), ADD(2, -8)}, 3, false, 8},
	{"a store below an address", {MOV_R10(2), ADD(2, -8), STORE(2, -8)}, 3, false, 8},
	{"a number that is added", {MOV_R10(2), ADD(2, -8), ADD_BY(2, 1)}, 3, false, 8},
	{"an address that is added", {NUMBER(2, -8), ADD_BY(2, 10)}, 2, false, 0},
	{"an address in memory", {MOV_R10(2), ADD(2, -8), KEEP(10, -16, 2)}, 3, false, 16},
	{"an address far below", {MOV_R10(2), ADD(2, -600), ADD(2, 200)}, 3, false, 0},
	{"an address on one of two ways",
	 {NUMBER(2, 1), UNLESS(1, 2), MOV_R10(2), ADD(2, -8), ADD(2, -8)},
	 5,
	 false,
	 8},
	{"an address from the turn before of a loop",
	 {NUMBER(2, 1), ADD(2, -8), MOV_R10(2), ADD(2, -8), UNLESS(1, -4)},
	 5,
	 false,
	 8},
};

static void test_depth(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bpf_insn insns[14];
		uint32_t bytes = 0;

		memcpy(insns, cases[i].insns, sizeof(cases[i].insns));
		if (is_known(insns, cases[i].n, &bytes) != cases[i].is_known ||
		    bytes != cases[i].bytes)
			fail_msg("%s: %u bytes", cases[i].what, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_depth)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
