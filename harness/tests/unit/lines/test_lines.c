/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lines/: where a program can be cut, what it holds there, and how the path of a run becomes rows
 * of a table. The programs are written here, instruction by instruction. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/insn.h"
#include "exact/cfg.h"
#include "lines/cuts.h"
#include "lines/held.h"
#include "lines/path.h"

#define MOV(dst, imm_)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (dst), .imm = (imm_)               \
	}
#define COPY(dst, src)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (dst), .src_reg = (src)            \
	}
#define ADD(dst, imm_)                                                                             \
	{                                                                                          \
		.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = (dst), .imm = (imm_)               \
	}
#define SPILL(off_, src)                                                                           \
	{                                                                                          \
		.code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 10, .src_reg = (src), .off = (off_) \
	}
#define FILL(dst, off_)                                                                            \
	{                                                                                          \
		.code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = (dst), .src_reg = 10, .off = (off_) \
	}
#define HELPER(id)                                                                                 \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_##id                                   \
	}
#define CALL(distance)                                                                             \
	{                                                                                          \
		.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = (distance)          \
	}
#define FUNCTION(dst, distance)                                                                    \
	{.code = BB_LD_IMM64, .dst_reg = (dst), .src_reg = BPF_PSEUDO_FUNC, .imm = (distance)},    \
	{                                                                                          \
	}
#define IF_ZERO(reg, off_)                                                                         \
	{                                                                                          \
		.code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = (reg), .off = (off_)                 \
	}
#define IF_NOT(reg, off_)                                                                          \
	{                                                                                          \
		.code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = (reg), .off = (off_)                 \
	}
#define EXIT                                                                                       \
	{                                                                                          \
		.code = BPF_JMP | BPF_EXIT                                                         \
	}
#define N_OF(a) ((uint32_t)(sizeof(a) / sizeof((a)[0])))

struct program {
	struct bb_code code;
	struct bb_cfg cfg;
};

static void open_program(struct program *p, struct bpf_insn *insns, uint32_t n,
			 struct bpf_line_info *lines, uint32_t n_lines)
{
	*p = (struct program){
		.code = {.insns = insns, .n = n, .lines = lines, .n_lines = n_lines, .btf_fd = -1}};
	assert_int_equal(bb_cfg__make(&p->code, &p->cfg, NULL), 0);
}

#define OPEN(p, insns) open_program((p), (insns), N_OF(insns), NULL, 0)

/* --- cuts --- */

/* Checks the cuts against a text such as "0 2 2+ 3"; + means after a call. */
static void expect_cuts(const struct program *p, enum bb_cut_detail detail, uint32_t every,
			const char *expected)
{
	struct bb_cuts c;
	char found[256] = "";
	size_t at = 0;

	bb_cuts__find(&p->code, &p->cfg, detail, every, &c);
	for (uint32_t i = 0; i < c.n; i++)
		at += (size_t)snprintf(found + at, sizeof(found) - at, "%s%u%s", i ? " " : "",
				       c.v[i].slot, c.v[i].after ? "+" : "");
	assert_string_equal(found, expected);
	bb_cuts__done(&c);
}

static void test_cuts_of_calls_and_lines(void **state)
{
	struct bpf_insn insns[] = {
		MOV(6, 0), HELPER(ktime_get_ns), COPY(6, 0), MOV(7, 1), MOV(0, 0), EXIT,
	};
	struct bpf_line_info lines[] = {
		{.insn_off = 0, .line_col = 10 << 10}, {.insn_off = 1, .line_col = 11 << 10},
		{.insn_off = 2, .line_col = 12 << 10}, {.insn_off = 3, .line_col = 13 << 10},
		{.insn_off = 4, .line_col = 13 << 10},
	};
	struct program p;

	(void)state;
	open_program(&p, insns, N_OF(insns), lines, N_OF(lines));
	expect_cuts(&p, BB_CUT_CALLS, 1, "0 1 1+ 5");
	/* After a call, the next line has no cut of its own, nor has a line that continues. */
	expect_cuts(&p, BB_CUT_LINES, 1, "0 1 1+ 3 5");
	/* The first instruction and exits always have a cut. */
	expect_cuts(&p, BB_CUT_LINES, 3, "0 1 1+ 5");
	bb_cfg__done(&p.cfg);
}

static void test_cuts_in_a_loop(void **state)
{
	struct bpf_insn insns[] = {
		MOV(6, 3), MOV(7, 0), HELPER(ktime_get_ns), ADD(6, -1), ADD(7, 1), IF_NOT(6, -4),
		MOV(0, 0), EXIT,
	};
	struct program p;

	(void)state;
	OPEN(&p, insns);
	expect_cuts(&p, BB_CUT_CALLS, 1, "0 7");
	expect_cuts(&p, BB_CUT_LINES, 1, "0 6 7");
	expect_cuts(&p, BB_CUT_LOOPS, 1, "0 2 2+ 6 7");
	bb_cfg__done(&p.cfg);
}

static void expect_entered(const struct program *p, const enum bb_entered *expected)
{
	struct bb_cuts c;

	bb_cuts__find(&p->code, &p->cfg, BB_CUT_ALL, 1, &c);
	for (uint32_t f = 0; f < p->cfg.n_funcs; f++)
		assert_int_equal(c.entered[f], expected[f]);
	bb_cuts__done(&c);
}

static void test_cuts_in_functions(void **state)
{
	struct bpf_insn insns[] = {
		MOV(1, 1),        CALL(8),         /* 0; calls the function at 10 */
		FUNCTION(2, 10),                   /* 2; the function at 13 */
		HELPER(loop),                      /* 4 */
		FUNCTION(2, 10),                   /* 5; the function at 16 */
		HELPER(find_vma),                  /* 7 */
		MOV(0, 0),        EXIT,            /* 8 */
		COPY(0, 1),       ADD(0, 1), EXIT, /* 10 */
		MOV(0, 0),        ADD(0, 0), EXIT, /* 13 */
		MOV(0, 0),        ADD(0, 0), EXIT, /* 16 */
	};
	const enum bb_entered each[] = {BB_ENTERED_MAIN, BB_ENTERED_BY_CALL, BB_ENTERED_BY_LOOP,
					BB_ENTERED_BY_ONCE};
	const enum bb_entered shared[] = {BB_ENTERED_MAIN, BB_ENTERED_BY_CALL, BB_ENTERED_NEVER,
					  BB_ENTERED_NEVER};
	struct program p;

	(void)state;
	OPEN(&p, insns);
	expect_entered(&p, each);
	expect_cuts(&p, BB_CUT_ALL, 1, "0 1 1+ 4 4+ 7 7+ 9 10 12 13 15 16 18");
	expect_cuts(&p, BB_CUT_LOOPS, 1, "0 1 1+ 4 4+ 7 7+ 9");
	bb_cfg__done(&p.cfg);
	/* A function that two kinds of helpers call back has no cuts. */
	insns[5].imm = 13 - 5 - 1;
	insns[13] = (struct bpf_insn)MOV(0, 0);
	OPEN(&p, insns);
	assert_int_equal(p.cfg.n_funcs, 3);
	expect_entered(&p, shared);
	expect_cuts(&p, BB_CUT_ALL, 1, "0 1 1+ 4 4+ 7 7+ 9 10 12");
	bb_cfg__done(&p.cfg);
}

/* --- resources that the program holds --- */

static struct bb_helds helds_of(const struct program *p)
{
	struct bb_helds h;

	bb_helds__find(&p->code, &p->cfg, &h);
	return h;
}

static void test_two_records_on_the_stack(void **state)
{
	struct bpf_insn insns[] = {
		HELPER(ringbuf_reserve),
		SPILL(-8, 0),
		IF_ZERO(0, 8), /* index 2 */
		HELPER(ringbuf_reserve),
		COPY(6, 0),
		IF_ZERO(0, 3), /* index 5 */
		COPY(1, 6),
		HELPER(ringbuf_submit), /* index 7 */
		MOV(7, 0),              /* index 8 */
		FILL(1, -8),
		HELPER(ringbuf_discard), /* index 10 */
		MOV(0, 0),
		EXIT, /* index 12 */
	};
	struct program p;
	struct bb_helds h;

	(void)state;
	OPEN(&p, insns);
	h = helds_of(&p);
	assert_int_equal(h.n, 2);
	for (uint32_t k = 0; k < 2; k++) {
		assert_int_equal(h.v[k].at, 3 * k);
		assert_int_equal(h.v[k].by, BB_HELD_RESULT);
		assert_int_equal(h.v[k].release, BPF_FUNC_ringbuf_discard);
		assert_true(h.v[k].has_flags);
	}
	/* Each call releases the record in its r1, which comes from a register or from the
	 * stack. */
	assert_int_equal(h.released[7], 1U << 1);
	assert_int_equal(h.released[10], 1U << 0);
	for (uint32_t at = 0; at < p.code.n; at++)
		if (at != 7 && at != 10)
			assert_int_equal(h.released[at], 0);
	bb_helds__done(&h);
	bb_cfg__done(&p.cfg);
}

static void test_record_that_a_function_returns(void **state)
{
	struct bpf_insn insns[] = {
		CALL(6),    IF_ZERO(0, 3),
		COPY(1, 0), MOV(2, 0),
		CALL(5),          /* index 4; the functions are at 7 and 10 */
		MOV(0, 0),  EXIT, /* 5 and 6 */
		MOV(2, 8),  HELPER(ringbuf_reserve),
		EXIT, /* index 9 */
		MOV(2, 0),  HELPER(ringbuf_submit),
		EXIT, /* index 12 */
	};
	struct program p;
	struct bb_helds h;

	(void)state;
	OPEN(&p, insns);
	assert_int_equal(p.cfg.n_funcs, 3);
	h = helds_of(&p);
	assert_int_equal(h.n, 2);
	/* The caller holds a record from its call on, until it passes it to the function that
	 * releases it. */
	assert_int_equal(h.v[0].at, 0);
	assert_int_equal(h.v[0].func, 0);
	assert_int_equal(h.released[4], 1U << 0);
	/* The function holds one itself. */
	assert_int_equal(h.v[1].at, 8);
	assert_int_equal(h.v[1].func, 1);
	bb_helds__done(&h);
	bb_cfg__done(&p.cfg);
}

static void test_lock_and_dynptr(void **state)
{
	struct bpf_insn insns[] = {
		COPY(4, 10),
		ADD(4, -16),
		HELPER(ringbuf_reserve_dynptr), /* index 2 */
		COPY(1, 9),
		HELPER(spin_lock),
		COPY(1, 9),
		HELPER(spin_unlock), /* index 6 */
		COPY(1, 10),
		ADD(1, -16),
		HELPER(ringbuf_submit_dynptr), /* index 9 */
		MOV(0, 0),
		EXIT,
	};
	struct program p;
	struct bb_helds h;

	(void)state;
	OPEN(&p, insns);
	h = helds_of(&p);
	assert_int_equal(h.n, 2);
	assert_int_equal(h.v[0].by, BB_HELD_ARGUMENT);
	assert_int_equal(h.v[0].arg, 4);
	assert_int_equal(h.v[0].release, BPF_FUNC_ringbuf_discard_dynptr);
	assert_int_equal(h.v[1].arg, 1);
	assert_int_equal(h.v[1].release, BPF_FUNC_spin_unlock);
	assert_false(h.v[1].has_flags);
	assert_int_equal(h.released[6], 1U << 1);
	assert_int_equal(h.released[9], 1U << 0);
	bb_helds__done(&h);
	bb_cfg__done(&p.cfg);
}

/* Resources beyond BB_MAX_HELD are not in the list, and nothing is written behind it. */
static void test_too_many_held(void **state)
{
	struct bpf_insn insns[BB_MAX_HELD + 6];
	struct program p;
	struct bb_helds h;

	(void)state;
	for (uint32_t i = 0; i < BB_MAX_HELD + 4; i++)
		insns[i] = (struct bpf_insn)HELPER(ringbuf_reserve);
	insns[BB_MAX_HELD + 4] = (struct bpf_insn)MOV(0, 0);
	insns[BB_MAX_HELD + 5] = (struct bpf_insn)EXIT;
	OPEN(&p, insns);
	h = helds_of(&p);
	assert_int_equal(h.n, BB_MAX_HELD);
	bb_helds__done(&h);
	bb_cfg__done(&p.cfg);
}

/* --- the path of a run --- */

/* Makes the path that passes these cuts; at most `most` of them are measured. */
static struct bb_line_path path_of(const struct program *p, const struct bb_cuts *cuts,
				   const uint32_t *v, uint32_t n, uint32_t most)
{
	struct bb_line_path path;
	uint32_t *own = malloc(n * sizeof(*own));

	assert_non_null(own);
	memcpy(own, v, n * sizeof(*own));
	bb_line_path__make(&p->code, &p->cfg, cuts, own, n, most, &path);
	return path;
}

/* Two calls in a row have one cut between them. Each has a row with its name. */
static void test_calls_in_a_row(void **state)
{
	struct bpf_insn insns[] = {
		MOV(6, 0), HELPER(ktime_get_ns), HELPER(get_smp_processor_id), MOV(0, 0), EXIT,
	};
	const uint32_t passed[] = {0, 1, 2, 3, 4};
	const char *const calls[] = {"", "bpf_ktime_get_ns", "bpf_get_smp_processor_id", ""};
	struct bb_line_path path;
	struct bb_cuts cuts;
	struct program p;

	(void)state;
	OPEN(&p, insns);
	bb_cuts__find(&p.code, &p.cfg, BB_CUT_CALLS, 1, &cuts);
	assert_int_equal(cuts.n, N_OF(passed)); /* the cuts are 0 1 1+ 2+ 4 */
	path = path_of(&p, &cuts, passed, N_OF(passed), 100);
	for (uint32_t i = 0; i < N_OF(calls); i++)
		assert_string_equal(path.rows[path.row_of[i]].call, calls[i]);
	bb_line_path__done(&path);
	bb_cuts__done(&cuts);
	bb_cfg__done(&p.cfg);
}

static void expect_ns(double value, double expected)
{
	if (!(fabs(value - expected) < 1e-9))
		fail_msg("%g is not %g", value, expected);
}

/* Three rounds of a loop with a call: rows for the instructions before it, for the call, and for
 * the rest. */
static void test_path_through_a_loop(void **state)
{
	struct bpf_insn insns[] = {
		MOV(6, 3), MOV(7, 0), HELPER(ktime_get_ns), ADD(6, -1), ADD(7, 1), IF_NOT(6, -4),
		MOV(0, 0), EXIT,
	};
	/* The cuts are 0, before 2, after 2, before 6, before 7. */
	const uint32_t way[] = {0, 1, 2, 1, 2, 1, 2, 3, 4};
	const double cumulative[] = {10, 12, 32, 37, 57, 62, 82, 87, 88};
	double rows[8], firsts[8];
	struct bb_line_path path;
	struct program p;
	struct bb_cuts c;
	uint32_t call;

	(void)state;
	OPEN(&p, insns);
	bb_cuts__find(&p.code, &p.cfg, BB_CUT_ALL, 1, &c);
	path = path_of(&p, &c, way, N_OF(way), 80);
	assert_false(path.leaves);
	assert_int_equal(path.n_measured, N_OF(way));
	call = path.row_of[1];
	assert_string_equal(path.rows[call].call, "bpf_ktime_get_ns");
	assert_int_equal(path.rows[call].turns, 3);
	assert_int_equal(path.rows[call].first, 1);
	assert_int_equal(path.row_of[3], call);
	assert_int_equal(path.row_of[5], call);
	assert_true(path.rows[path.row_of[2]].is_loop);
	for (uint32_t i = 0; i < N_OF(way); i++)
		expect_ns(path.checks[i], i);
	bb_line_path__share(&path, cumulative, rows, firsts);
	expect_ns(rows[call], 60);
	expect_ns(firsts[call], 20);
	expect_ns(rows[path.row_of[2]], 15);
	bb_line_path__done(&path);
	bb_cuts__done(&c);
	bb_cfg__done(&p.cfg);
}

/* Of a long path, some parts of each kind are measured. The others get their share, so that the sum
 * stays. */
static void test_long_path(void **state)
{
	enum { ROUNDS = 200 };
	struct bpf_insn insns[] = {
		MOV(6, ROUNDS), HELPER(ktime_get_ns), ADD(6, -1), IF_NOT(6, -3), MOV(0, 0), EXIT,
	};
	/* The cuts are 0, before 1, after 1, before 4, before 5. */
	uint32_t way[2 * ROUNDS + 3] = {0};
	double cumulative[2 * ROUNDS + 3], rows[8], firsts[8], sum = 0;
	struct bb_line_path path;
	struct program p;
	struct bb_cuts c;

	(void)state;
	for (uint32_t i = 0; i < 2 * ROUNDS; i++)
		way[1 + i] = 1 + i % 2;
	way[2 * ROUNDS + 1] = 3;
	way[2 * ROUNDS + 2] = 4;
	OPEN(&p, insns);
	bb_cuts__find(&p.code, &p.cfg, BB_CUT_ALL, 1, &c);
	path = path_of(&p, &c, way, N_OF(way), 24);
	assert_in_range(path.n_measured, 8, 24);
	assert_int_equal(path.measured[0], 0);
	assert_int_equal(path.measured[path.n_measured - 1], N_OF(way) - 1);
	for (uint32_t i = 0; i < path.n_measured; i++) /* 30 ns a call, 3 ns the rest of a round */
		cumulative[i] = path.measured[i] / 2 * 33 + path.measured[i] % 2 * 3;
	bb_line_path__share(&path, cumulative, rows, firsts);
	for (size_t r = 0; r < path.n_rows; r++)
		sum += rows[r];
	expect_ns(sum, cumulative[path.n_measured - 1] - cumulative[0]);
	assert_true(fabs(rows[path.row_of[1]] - 30 * ROUNDS) < 30);
	bb_line_path__done(&path);
	bb_cuts__done(&c);
	bb_cfg__done(&p.cfg);
}

/* Into a function and out again: the function has a row, and the call has one that is entered
 * once. */
static void test_path_through_a_function(void **state)
{
	struct bpf_insn insns[] = {
		MOV(1, 1),  CALL(2),   MOV(0, 0), EXIT, /* the function is at 4 */
		COPY(0, 1), ADD(0, 1), EXIT,
	};
	/* The cuts are 0, before 1, after 1, 3, 4, 6. */
	const uint32_t way[] = {0, 1, 4, 5, 2, 3};
	struct bb_line_path path;
	struct program p;
	struct bb_cuts c;

	(void)state;
	OPEN(&p, insns);
	bb_cuts__find(&p.code, &p.cfg, BB_CUT_ALL, 1, &c);
	path = path_of(&p, &c, way, N_OF(way), 80);
	assert_int_equal(path.row_of[1], path.row_of[3]);
	assert_true(path.rows[path.row_of[1]].enters);
	assert_int_equal(path.rows[path.row_of[1]].turns, 1);
	assert_string_equal(path.rows[path.row_of[1]].call, "a function()");
	assert_string_equal(path.rows[path.row_of[2]].from, "0 a function()");
	/* On entry and exit of a function, the count is handed over, which costs more than a
	 * check. */
	expect_ns(path.checks[1], 1);
	expect_ns(path.checks[2], 4);
	expect_ns(path.checks[4], 8);
	bb_line_path__done(&path);
	bb_cuts__done(&c);
	bb_cfg__done(&p.cfg);
}

/* A path that does not end at an exit has a row for what comes after its last cut. */
static void test_path_that_leaves(void **state)
{
	struct bpf_insn insns[] = {MOV(6, 0), HELPER(tail_call), MOV(0, 0), EXIT};
	const uint32_t way[] = {0, 1};
	struct bb_line_path path;
	struct program p;
	struct bb_cuts c;

	(void)state;
	OPEN(&p, insns);
	bb_cuts__find(&p.code, &p.cfg, BB_CUT_ALL, 1, &c);
	path = path_of(&p, &c, way, N_OF(way), 80);
	assert_true(path.leaves);
	assert_int_equal(path.n_measured, 3);
	assert_int_equal(path.measured[2], 2);
	assert_string_equal(path.rows[path.row_of[1]].call, "bpf_tail_call, and the program that "
							    "it leads to");
	bb_line_path__done(&path);
	bb_cuts__done(&c);
	bb_cfg__done(&p.cfg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts_of_calls_and_lines),
		cmocka_unit_test(test_cuts_in_a_loop),
		cmocka_unit_test(test_calls_in_a_row),
		cmocka_unit_test(test_cuts_in_functions),
		cmocka_unit_test(test_two_records_on_the_stack),
		cmocka_unit_test(test_record_that_a_function_returns),
		cmocka_unit_test(test_lock_and_dynptr),
		cmocka_unit_test(test_too_many_held),
		cmocka_unit_test(test_path_through_a_loop),
		cmocka_unit_test(test_long_path),
		cmocka_unit_test(test_path_through_a_function),
		cmocka_unit_test(test_path_that_leaves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
